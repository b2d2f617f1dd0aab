/** Room: chat services, and what each of them sends and takes. It imports events, basics, vault and log/contract alone. */

import type { ConversationChannel } from '../../../events/conversation.js'
import type { JsonObject } from '../../../events/common.js'
import type { ReadHeader } from './signatures.js'

/** A message as a chat service sends it. */
export type InboundMessage = {
  /** Names the conversation within the chatbot: messages from the same place belong together. */
  place: string
  /** The ids by which the chat service tells this message from others; the first is that of its event. */
  ids: readonly [string, ...string[]]
  text: string
  /** Who wrote it, as the chat service names them. */
  sender: string | null
  /** What the chat service needs to know where an answer belongs. */
  address: JsonObject
  /** Whether it is only a message if its conversation has begun. */
  onlyIfStarted: boolean
}

/** What came through a webhook: a message, something to be answered at once, or nothing for a chatbot. */
export type Arrival = { message: InboundMessage } | { challenge: string } | { ignored: string }

/** A text on its way out: an answer, or the notice that there is none. `reply` is its id. */
export type OutboundMessage = { reply: string; status: 'answered' | 'failed'; text: string; address: JsonObject }

/**
 * How one try to deliver ended. `later`: the chat service certainly did not take it, and may take it another time. `unknown`: nobody
 * knows whether it took it.
 */
export type Attempt =
  | { end: 'sent' }
  | { end: 'refused'; error: string }
  | { end: 'later'; error: string; afterMs?: number }
  | { end: 'unknown'; error: string }

/** A chat service as a chatbot meets it, with the credentials of one connection. */
export type Channel = {
  name: Exclude<ConversationChannel, 'api'>
  /** Checks that a request comes from the chat service. @throws Problem bad_signature, not_ready */
  verify: (header: ReadHeader, body: Buffer, now: number) => void
  /** Reads a checked request. @throws Problem when it does not come from this chat service */
  read: (body: unknown, header: ReadHeader) => Arrival
  /** Delivers an answer; undefined where answers are only read here, or in the reply to the webhook. */
  post: ((outgoing: OutboundMessage, signal: AbortSignal) => Promise<Attempt>) | undefined
  /** Whether the reply to a webhook waits for the answer. */
  answersInReply: boolean
}

/** A `fetch` that goes only where the service may call. */
export type Fetch = typeof globalThis.fetch

/** The parameters of a connection, with their secrets. */
export type ChannelParams = Readonly<Record<string, unknown>>

/** A parameter that is a text; empty when it is missing or something else. */
export const textParam = (params: ChannelParams, name: string): string => {
  const value = params[name]
  return typeof value === 'string' ? value : ''
}

/** The address of a chat service's API: its own, unless the connection names another. */
export const apiUrl = (params: ChannelParams, usual: string): string => (textParam(params, 'api_url') || usual).replace(/(?<!\/)\/+$/, '')
