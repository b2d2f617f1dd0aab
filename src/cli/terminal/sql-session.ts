import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { parseStatement } from '../../sql/statements/parse.js'
import { quoteText } from '../../dialect/strings.js'
import { exactJson } from '../../basics/exact-json.js'
import { ConfigError } from '../../setup/config.js'
import type { Screen } from './output.js'
import { refusalText, type Server } from '../access/server.js'
import { tableText, verticalText } from './table-text.js'

const contextSchema = z.looseObject({ db: z.string() })
const answerSchema = z.union([
  z.looseObject({
    type: z.literal('table'),
    column_names: z.array(z.string()),
    data: z.array(z.array(z.unknown())),
    context: contextSchema,
  }),
  z.looseObject({ type: z.literal('ok'), context: contextSchema }),
  z.looseObject({ type: z.literal('error'), error_message: z.string() }),
])
type Answer = z.infer<typeof answerSchema>
type Table = Extract<Answer, { type: 'table' }>

/** How rows are printed. */
export type Format = 'table' | 'vertical' | 'json' | 'csv'
/** The context of each statement; `as_of` is a position or a time. */
export type Context = { db: string; as_of?: string }

const isTraining = (statement: string): boolean => {
  try {
    const { kind } = parseStatement(statement)
    return kind === 'create_model' || kind === 'retrain_model'
  } catch {
    return false
  }
}

const trainingSchema = z.object({ name: z.string(), project: z.string(), version: z.number(), status: z.string() })
const pollMs = 200

/** The JSON of an answer. @throws ConfigError for an answer of something else, such as a proxy whose server is away */
const bodyOf = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  try {
    return exactJson(text)
  } catch {
    throw new ConfigError(`the answer (status ${response.status}) is not one of this service; a proxy may have given it. Try again.`)
  }
}

/** The named cells of an answer's first row. */
const firstRow = ({ column_names: names, data }: Table): unknown =>
  Object.fromEntries(names.map((name, i) => [name.toLowerCase(), data[0]?.[i]]))

/** Names of columns made unique for an object: the second `a` is `a_1`, unless another column has that name. */
const memberNames = (columns: readonly string[]): string[] => {
  const taken = new Set(columns)
  const seen = new Set<string>()
  return columns.map((name) => {
    let member = name
    for (let n = 1; seen.has(name) && taken.has(member); n++) member = `${name}_${n}`
    seen.add(name)
    taken.add(member)
    return member
  })
}

const objectsText = ({ column_names: columns, data }: Table): string => {
  const names = memberNames(columns)
  const rows = data.map((row) => JSON.stringify(Object.fromEntries(names.map((name, i) => [name, row[i] ?? null]))))
  return rows.length === 0 ? '[]' : `[${rows.join(',\n ')}]`
}

/** Runs statements in order: a USE statement selects the database for the ones after it. */
export class SqlSession {
  constructor(
    private readonly server: Server,
    private context: Context,
    private readonly out: Screen,
    public format: Format,
  ) {}

  /** The database for names without one. */
  get db(): string {
    return this.context.db
  }

  /**
   * Runs a statement and prints its answer; waits for the training that it starts. Returns the exit status.
   *
   * @throws ConfigError when the server cannot be reached, or its answer is cut off
   */
  async run(statement: string, signal?: AbortSignal): Promise<number> {
    if (this.format === 'csv' && !isTraining(statement)) return this.#csv(statement, signal)
    const answer = await this.#ask(statement, signal)
    if (answer === undefined) return 1
    if (answer.type !== 'table' || !isTraining(statement)) return this.#show(answer)
    return this.#trained(answer, signal)
  }

  /** Waits for the end of a training, because the next statement may need the model. */
  async #trained(requested: Table, signal: AbortSignal | undefined): Promise<number> {
    const model = trainingSchema.safeParse(firstRow(requested)).data
    if (!model) return this.#show(requested)
    const { name, project, version } = model
    const query =
      'SELECT NAME, PROJECT, VERSION, STATUS, ACCURACY, ERROR, TRAINING_TIME FROM information_schema.models ' +
      `WHERE NAME = ${quoteText(name)} AND PROJECT = ${quoteText(project)} AND VERSION = ${version}`
    for (;;) {
      const answer = await this.#ask(query, signal)
      if (answer?.type !== 'table') return answer === undefined ? 1 : this.#show(answer)
      const status = trainingSchema.safeParse(firstRow(answer)).data?.status
      if (status !== 'generating' && status !== 'training') {
        const shown = this.format === 'csv' ? await this.#csv(query, signal) : this.#show(answer)
        return shown || Number(status !== 'complete')
      }
      this.out.progress(`${name}: ${status}`)
      await sleep(pollMs, undefined, { signal })
    }
  }

  /** Sends a statement and returns its answer; undefined after an error, which is printed. */
  async #ask(statement: string, signal: AbortSignal | undefined): Promise<Answer | undefined> {
    const response = await this.server.send('/api/sql/query', { query: statement, context: this.context }, signal)
    const body = await bodyOf(response)
    const answer = answerSchema.safeParse(body).data
    if (!answer) this.out.error(refusalText(body))
    else if (answer.type === 'ok') this.context = { ...this.context, db: answer.context.db }
    return answer
  }

  /** Prints rows of CSV as they arrive, so that a large answer is not held in memory. */
  async #csv(statement: string, signal: AbortSignal | undefined): Promise<number> {
    const request = { query: statement, context: this.context, response_format: 'csv' }
    const response = await this.server.send('/api/sql/query', request, signal)
    if (response.ok && response.body && response.headers.get('content-type')?.startsWith('text/csv')) {
      await this.out.pass(response.body)
      return 0
    }
    const body = await bodyOf(response)
    const answer = answerSchema.safeParse(body).data
    if (answer?.type === 'ok') this.context = { ...this.context, db: answer.context.db }
    if (answer?.type === 'ok') return 0
    this.out.error(answer?.type === 'error' ? answer.error_message : refusalText(body))
    return 1
  }

  #show(answer: Answer): number {
    switch (answer.type) {
      case 'table':
        for (const line of this.#lines(answer)) this.out.line(line)
        return 0
      case 'ok':
        this.out.line(this.format === 'json' ? JSON.stringify(answer) : 'ok')
        return 0
      case 'error':
        this.out.error(answer.error_message)
        return 1
    }
  }

  #lines(table: Table): string[] {
    if (this.format === 'json') return [objectsText(table)]
    if (this.format === 'vertical') return verticalText(table.column_names, table.data)
    return tableText(table.column_names, table.data, this.out.width)
  }
}
