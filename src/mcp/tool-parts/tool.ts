/**
 * Room: the interface of a tool of the Model Context Protocol. It imports only events, basics, log/contract, sql, commands and
 * http/protocol.
 */

import * as z from 'zod'
import type { JsonObject } from '../../../events/common.js'
import type { Origin } from '../../log/contract/log.js'
import { parse } from '../../http/protocol/body-schema.js'

/** The context of a call of a tool: the caller, and the end of the call. */
export type CallContext = {
  origin: Origin
  /** The client whose turn in SQL its queries take. */
  client: string
  /** Aborts when the client cancels the call, leaves, or its login ends. */
  signal: AbortSignal
  /** Reports progress before the answer. Only clients that asked for progress receive it. */
  tell: (step: string) => void
  /** Notes the positions of events that the call recorded, for the log line. */
  note: (positions: readonly number[]) => void
}

/** The effect of a tool on its surroundings, for clients that ask their user first. */
type Effect = { readsOnly: boolean; reachesOut?: boolean }

/** A tool for clients: its schemas as JSON Schema, and the call that checks its arguments. */
export type Tool = {
  name: string
  title: string
  description: string
  input: JsonObject
  output: JsonObject
  effect: Effect
  /** @throws Problem for wrong arguments, and for any refusal of the tool */
  call: (args: unknown, asked: CallContext) => Promise<Record<string, unknown>>
}

type Definition<Args, Given extends Record<string, unknown>> = Pick<Tool, 'name' | 'title' | 'description' | 'effect'> & {
  input: z.ZodType<Args>
  output: z.ZodType<Given>
  run: (args: Args, asked: CallContext) => Promise<Given>
}

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonObject =>
  JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))) as JsonObject

/**
 * Makes a tool. A refusal names the first wrong argument, so that a language model can correct its call.
 *
 * @example tool({ name: 'ping', title: 'Ping', description, effect: { readsOnly: true }, input: z.strictObject({}), output, run })
 */
export const tool = <Args, Given extends Record<string, unknown>>({ input, output, run, ...described }: Definition<Args, Given>): Tool => ({
  ...described,
  input: jsonSchema(input, 'input'),
  output: jsonSchema(output, 'output'),
  call: async (args, asked) => run(parse(input, args ?? {}, 'arguments'), asked),
})
