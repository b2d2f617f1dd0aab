import * as z from 'zod'
import { jsonObject, type Json } from '../../../events/common.js'
import type { AnswerRecord } from '../contract/answer-record.js'

const json = z.custom<Json>()
const call = z.looseObject({ id: z.string(), tool: z.string(), input: z.string() })

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'user']), content: z.string() }),
  z.looseObject({ role: z.literal('assistant'), content: z.string(), toolCalls: z.array(call).exactOptional() }),
  z.looseObject({ role: z.literal('tool'), toolCallId: z.string(), tool: z.string(), content: z.string() }),
])

const said = z.looseObject({ text: z.string(), remarks: z.string().exactOptional(), toolCalls: z.array(call) })
const tokens = z.number().nullable()
const finish = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'other'])
const thoughts = z.looseObject({ reasoning_content: z.string().exactOptional(), reasoning_details: z.array(jsonObject).exactOptional() })
const response = z.union([
  said.extend({ error: z.string() }),
  said.extend({
    finish,
    usage: z.looseObject({ input: tokens, output: tokens }),
    model: z.string(),
    thoughts: thoughts.exactOptional(),
  }),
])

const exchange = z.looseObject({ new: z.array(message), response })

const toolUse = z.looseObject({
  call,
  output: z.string(),
  failed: z.boolean(),
  aborted: z.boolean().exactOptional(),
  sql: z.string().exactOptional(),
  columns: z.array(z.string()).exactOptional(),
  rows: z.array(z.array(json)).exactOptional(),
  cut: z.boolean().exactOptional(),
  usage: z.looseObject({ input: tokens, output: tokens }).exactOptional(),
  exchanges: z.array(exchange).exactOptional(),
})

/**
 * The schema that a payload of `AgentAnswered` must match before an answer can be replayed from it. Other members of the payload are kept.
 */
export const answerRecord: z.ZodType<AnswerRecord> = z.looseObject({
  question: z.string(),
  history: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.string() })),
  settings: z.looseObject({
    tools: z.array(z.looseObject({ name: z.string(), description: z.string(), inputSchema: jsonObject })),
    maxOutputTokens: z.number().exactOptional(),
    temperature: z.number().exactOptional(),
    params: jsonObject,
    bounds: z
      .looseObject({
        promptTokens: z.number(),
        answerTokens: z.number(),
        history: z.number(),
        steps: z.number(),
        queries: z.number(),
        repairs: z.number(),
      })
      .exactOptional(),
  }),
  exchanges: z.array(exchange),
  tools: z.array(toolUse),
  answer: z.string(),
  failure: z.looseObject({ code: z.string(), title: z.string(), detail: z.string() }).exactOptional(),
  history_erased: z.literal(true).exactOptional(),
  data_gone: z.literal(true).exactOptional(),
  cut: z.literal(true).exactOptional(),
})
