import '../../spec.yaml'
