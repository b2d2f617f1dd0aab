import * as z from 'zod'
import { jsonObject, type JsonObject } from '../../events/common.js'

/** The kept data of a message: its text, its author, and the place for an answer. It may have to be erased. */
export type MessagePayload = { text: string; sender: string | null; address: JsonObject }

/** The kept data of an answer. */
export type ReplyPayload = { text: string }

/** A text that the tables can hold: without NUL and without half characters. */
const fit = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value)

/**
 * A message or an answer as bytes to be encrypted: JSON, its texts without NUL and without half characters.
 *
 * @example ledger.vault.seal(payloadBytes({ text, sender, address }))
 */
export const payloadBytes = (payload: MessagePayload | ReplyPayload): Buffer => Buffer.from(JSON.stringify(payload, fit))

const textOnly = z.looseObject({ text: z.string() })
const message = z.object({ text: z.string(), sender: z.string().nullable(), address: jsonObject })

/** The text in a payload; undefined when it was erased. */
export const messageText = (bytes: Buffer | undefined): string | undefined => bytes && textOnly.parse(JSON.parse(bytes.toString())).text

/** A message as it was received; undefined when it was erased. */
export const readMessage = (bytes: Buffer | undefined): MessagePayload | undefined => bytes && message.parse(JSON.parse(bytes.toString()))
