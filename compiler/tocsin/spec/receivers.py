"""How a team is reached: one section a kind of integration. Secrets are only ever files that Alertmanager reads."""

from pydantic import Field

from tocsin.spec.scalars import Address, Channel, Mail, Mails, ProjectKey, Said, SecretFile, Section, Url


class PagerDuty(Section):
    """An Events API v2 integration."""

    routing_key_file: SecretFile


class Opsgenie(Section):
    """An API integration; `api_url` where it is not the one of the United States."""

    api_key_file: SecretFile
    api_url: Url | None = None


class Slack(Section):
    """An incoming webhook that posts to a channel."""

    channel: Channel
    api_url_file: SecretFile


class Teams(Section):
    """A workflow of Microsoft Teams that posts what a webhook receives."""

    webhook_url_file: SecretFile


class Discord(Section):
    """A channel's webhook."""

    webhook_url_file: SecretFile


class Telegram(Section):
    """A bot in a chat; the number of a group is negative."""

    bot_token_file: SecretFile
    chat_id: int


class Email(Section):
    """A mail through a relay. A `username` has a `password_file`; `require_tls` refuses a relay without TLS."""

    to: Mails
    sender: Mail = Field(alias="from")
    smarthost: Address
    username: Said | None = None
    password_file: SecretFile | None = None
    require_tls: bool = True


class Webhook(Section):
    """A JSON POST; `url` for an address that is no secret, `url_file` for one that is."""

    url: Url | None = None
    url_file: SecretFile | None = None


class Jira(Section):
    """An issue in a project, opened as `username` with an API token, and closed by nobody but people.

    `url` has the path of the API in it, as in https://example.atlassian.net/rest/api/2/.
    """

    url: Url
    project: ProjectKey
    issue_type: Said
    username: Said
    token_file: SecretFile


class Channels(Section):
    """Every way in which one kind of message reaches a team; all of them are used."""

    pagerduty: PagerDuty | None = None
    opsgenie: Opsgenie | None = None
    slack: Slack | None = None
    teams: Teams | None = None
    email: Email | None = None
    webhook: Webhook | None = None
    telegram: Telegram | None = None
    discord: Discord | None = None


class TicketChannels(Channels):
    """A ticket may be one of a tracker as well."""

    jira: Jira | None = None
