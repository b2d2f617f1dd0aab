import { createHmac } from 'node:crypto'

export const seconds = (): number => Math.floor(Date.now() / 1_000)

/** The headers of a body with Slack's signature. */
export const slackHeaders = (secret: string, body: string, time: number = seconds()): Record<string, string> => ({
  'content-type': 'application/json',
  'x-slack-request-timestamp': String(time),
  'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')}`,
})

/** The headers of a body with a signature by Standard Webhooks. */
export const webhookHeaders = (secret: string | Buffer, id: string, body: string, time: number = seconds()): Record<string, string> => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(time),
  'webhook-signature': `v1,${createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')}`,
})
