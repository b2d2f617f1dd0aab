import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { sha256, streamId, text, type SchemasOf, type StreamId, type UpcastersOf } from '../common.js'

/** Where a question came from. */
export const answerPurposes = ['completion', 'sql', 'conversation', 'tool', 'evaluation', 'rerun'] as const
export type AnswerPurpose = (typeof answerPurposes)[number]

/** `unanswered`: the agent said that it has no answer. `aborted`: the client left, or the service was stopped. */
export const answerOutcomes = ['answered', 'unanswered', 'failed', 'aborted'] as const
export type AnswerOutcome = (typeof answerOutcomes)[number]

/** What an agent can do on the way to an answer: ask its language model, or use one of its tools. */
export const answerSteps = ['model', 'sql', 'search', 'predict', 'other'] as const

/** How a step ends. `aborted`: the tool was cut off, because the client left, the time was over, or the service stopped. */
export const stepOutcomes = ['complete', 'failed', 'aborted'] as const

/** What a model of a provider did for a search. */
export const stepModelRoles = ['embedding', 'reranking'] as const

/** A model of a provider that got a question or passages from a step, beside the language model. Unknown counts are null. */
export type StepModel = {
  role: (typeof stepModelRoles)[number]
  provider: string
  model: string
  host: string
  input_tokens: number | null
  output_tokens: number | null
}

/**
 * One step of an answer, without its texts. `name` is the name of the model or tool. Unknown counts are null. The counts of a search are
 * those of its models.
 */
export type AnswerStep = {
  kind: (typeof answerSteps)[number]
  name: string
  outcome: (typeof stepOutcomes)[number]
  /** Milliseconds. */
  duration_ms: number
  rows: number | null
  input_tokens: number | null
  output_tokens: number | null
  /** The models of providers that a search asked; none if it is missing. */
  models?: StepModel[]
}

/**
 * An agent answered a question, or failed to answer. The event names the versions that the answer used. All texts (question, data, answer)
 * are in an erasable payload, an `AnswerRecord`.
 */
export type AgentAnswered = {
  agent: StreamId
  version: number
  /** The id of the answer, a UUID: its name in the API is `trace_id`. */
  answer: string
  purpose: AnswerPurpose
  conversation: StreamId | null
  skills: { skill: StreamId; version: number }[]
  /** Models of this service that the agent used as tools. */
  models: { model: StreamId; version: number }[]
  /** Knowledge bases, and the log position up to which each was searched. */
  knowledge_bases: { knowledge_base: StreamId; version: number; position: number }[]
  /** The language model: its provider, its name, and the host that was called. */
  provider: string
  model: string
  host: string
  read_at: number
  steps: AnswerStep[]
  /** The tokens of all steps together. */
  input_tokens: number | null
  output_tokens: number | null
  /** Tokens that the provider did not report, by estimate, for example of an exchange that was cut off; none if it is missing. */
  estimated_tokens?: number
  outcome: AnswerOutcome
  /** Why it failed, without any text of the conversation. */
  error: string | null
  first_token_ms: number | null
  duration_ms: number
  payload: string
}

/** Somebody judged an answer. A comment is a payload, because it may be personal. Only the last verdict of an actor counts. */
export type AnswerJudged = { agent: StreamId; answer: string; answered_at: number; verdict: 'good' | 'bad'; payload: string | null }

/**
 * The language model that judged the cases of an evaluation, and its own tokens, which the agent's tokens do not include. Unknown counts
 * are null.
 */
export type EvaluationJudge = { provider: string; model: string; input_tokens: number | null; output_tokens: number | null }

/** An agent was evaluated: it got recorded questions again, or the questions of a table. `metrics` are means over the cases. */
export type AgentEvaluated = {
  agent: StreamId
  version: number
  /** `rerun`: recorded answers; `table`: the questions of a table. */
  test: 'rerun' | 'table'
  /** The replayed part: all exchanges with the language model, only the results of tools, or nothing. */
  replayed: 'exchanges' | 'tools' | 'nothing'
  model: string
  cases: number
  failed: number
  metrics: { name: string; value: number }[]
  input_tokens: number | null
  output_tokens: number | null
  judge: EvaluationJudge | null
  /** Tokens of the judge that its provider did not report, by estimate; none if it is missing. */
  estimated_tokens?: number
  duration_ms: number
  payload: string
}

export type AnswersEvent =
  Event<'AgentAnswered', AgentAnswered> | Event<'AnswerJudged', AnswerJudged> | Event<'AgentEvaluated', AgentEvaluated>

const version = z.int().positive()
const count = z.int().nonnegative()
const milliseconds = z.number().nonnegative()
const step = z.strictObject({
  kind: z.enum(answerSteps),
  name: text,
  outcome: z.enum(stepOutcomes),
  duration_ms: milliseconds,
  rows: count.nullable(),
  input_tokens: count.nullable(),
  output_tokens: count.nullable(),
  models: z
    .array(
      z.strictObject({
        role: z.enum(stepModelRoles),
        provider: text,
        model: text,
        host: text,
        input_tokens: count.nullable(),
        output_tokens: count.nullable(),
      }),
    )
    .exactOptional(),
})

export const answersSchemas: SchemasOf<AnswersEvent> = {
  AgentAnswered: z
    .strictObject({
      agent: streamId,
      version,
      answer: z.uuid(),
      purpose: z.enum(answerPurposes),
      conversation: streamId.nullable(),
      skills: z.array(z.strictObject({ skill: streamId, version })),
      models: z.array(z.strictObject({ model: streamId, version })),
      knowledge_bases: z.array(z.strictObject({ knowledge_base: streamId, version, position: count })),
      provider: text,
      model: text,
      host: text,
      read_at: count,
      steps: z.array(step),
      input_tokens: count.nullable(),
      output_tokens: count.nullable(),
      estimated_tokens: count.exactOptional(),
      outcome: z.enum(answerOutcomes),
      error: text.nullable(),
      first_token_ms: milliseconds.nullable(),
      duration_ms: milliseconds,
      payload: sha256,
    })
    .describe('An agent answered a question, or failed to answer. The question, the data and the answer are a payload that can be erased.'),
  AnswerJudged: z
    .strictObject({
      agent: streamId,
      answer: z.uuid(),
      answered_at: z.int().positive(),
      verdict: z.enum(['good', 'bad']),
      payload: sha256.nullable(),
    })
    .describe('Somebody judged an answer; a comment is a payload that can be erased. Only the last verdict of an actor counts.'),
  AgentEvaluated: z
    .strictObject({
      agent: streamId,
      version,
      test: z.enum(['rerun', 'table']),
      replayed: z.enum(['exchanges', 'tools', 'nothing']),
      model: text,
      cases: count,
      failed: count,
      metrics: z.array(z.strictObject({ name: text, value: z.number() })),
      input_tokens: count.nullable(),
      output_tokens: count.nullable(),
      judge: z
        .strictObject({ provider: text, model: text, input_tokens: count.nullable(), output_tokens: count.nullable() })
        .nullable()
        .describe('The language model that judged the cases, with its own tokens.'),
      estimated_tokens: count.exactOptional(),
      duration_ms: milliseconds,
      payload: sha256,
    })
    .describe('An agent got recorded questions again, or the questions of a table; the cases are a payload that can be erased.'),
}

export const answersUpcasters: UpcastersOf<AnswersEvent> = {
  // Version 1 did not have the tokens of a judge.
  AgentEvaluated: [(data) => ({ ...data, judge: null })],
}

/** The payloads of answers: questions, data and answers. */
export const answersPayloads = { AgentAnswered: ['payload'], AnswerJudged: ['payload'], AgentEvaluated: ['payload'] } as const

/** Answers have a stream of their own beside the agent's, so that an answer never changes the agent's version. */
export const answersStream = (agent: StreamId): string => `${agent}/answers`
