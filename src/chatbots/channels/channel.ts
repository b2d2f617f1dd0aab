/**
 * Room: chat services, with their messages and answers. It imports only events, basics, egress, vault, log/contract and agents/contract.
 */

import type { ConversationChannel } from '../../../events/conversation.js'
import type { JsonObject } from '../../../events/common.js'
import type { AnswerRows } from '../../agents/contract/answering.js'
import type { ReadHeader } from './signature-parts.js'

/** A message from a chat service. */
export type InboundMessage = {
  /** Names the conversation within the chatbot: messages from the same place belong together. */
  place: string
  /** The ids that the chat service gives this message; the first is the id of its event. */
  ids: readonly [string, ...string[]]
  text: string
  /** The author, by the name in the chat service. */
  sender: string | null
  /** The data that the chat service needs to place an answer. */
  address: JsonObject
  /** Whether it only counts if its conversation has already begun. */
  onlyIfStarted: boolean
}

/** The content of a request to a webhook: a message, a check that needs an answer at once, or nothing for a chatbot. */
export type Arrival = { message: InboundMessage } | { challenge: string } | { ignored: string }

/**
 * An outgoing text: the answer to a message, or the notice that there is none. `reply` is its id; for `note` see `noteOf`. `answer` has the
 * id of the answer in the log, and the queries behind it.
 */
export type OutboundMessage = {
  message: string
  reply: string
  status: 'answered' | 'failed'
  text: string
  note?: string
  answer?: { id: string; queries: readonly AnswerRows[] }
  address: JsonObject
}

/**
 * The result of one try to deliver. `later`: the chat service certainly did not accept it, but may accept it later. `unknown`: nobody knows
 * whether it accepted it.
 */
export type Attempt =
  | { end: 'sent' }
  | { end: 'refused'; error: string }
  | { end: 'later'; error: string; afterMs?: number }
  | { end: 'unknown'; error: string }

/** A chat service for a chatbot, with the credentials of one connection. */
export type Channel = {
  name: Exclude<ConversationChannel, 'api'>
  /** Checks that a request comes from the chat service. @throws Problem bad_signature, not_ready */
  verify: (header: ReadHeader, body: Buffer, now: number) => void
  /** Reads a checked request. @throws Problem when it does not come from this chat service */
  read: (body: unknown, header: ReadHeader) => Arrival
  /** Delivers an answer; undefined if clients read answers only here, or in the reply to the webhook. */
  post: ((outgoing: OutboundMessage, signal: AbortSignal) => Promise<Attempt>) | undefined
  /** Whether the reply to a webhook waits for the answer. */
  answersInReply: boolean
}

/** A `fetch` that only calls allowed hosts. */
export type Fetch = typeof globalThis.fetch

/** The parameters of a connection, with their secrets. */
export type ChannelParams = Readonly<Record<string, unknown>>

/** A parameter that is a text; empty if it is missing or no text. */
export const textParam = (params: ChannelParams, name: string): string => {
  const value = params[name]
  return typeof value === 'string' ? value : ''
}

/** The address of a chat service's API: the default one, unless the connection names another. */
export const apiUrl = (params: ChannelParams, usual: string): string => (textParam(params, 'api_url') || usual).replace(/(?<!\/)\/+$/, '')
