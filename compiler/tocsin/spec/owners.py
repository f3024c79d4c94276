"""`owners`: the teams, and how each is paged and ticketed."""

from tocsin.spec.scalars import Channel, SecretFile, Section, Url


class PagerDuty(Section):
    """An Events API v2 integration."""

    routing_key_file: SecretFile


class Slack(Section):
    """An incoming webhook that posts to a channel."""

    channel: Channel
    api_url_file: SecretFile


class Webhook(Section):
    """A JSON POST; `url` for an address that is no secret, `url_file` for one that is."""

    url: Url | None = None
    url_file: SecretFile | None = None


class Channels(Section):
    """Every way in which one kind of message reaches a team; all of them are used."""

    pagerduty: PagerDuty | None = None
    slack: Slack | None = None
    webhook: Webhook | None = None


class Owner(Section):
    """A team: `page` wakes someone, `ticket` waits for the morning, `runbooks` is where its alerts' pages are."""

    page: Channels
    ticket: Channels
    runbooks: Url
