import type { ContentsSource } from '../../../events/records/contents.js'
import type { JsonObject } from '../../../events/common.js'
import { notFound, Problem, wrong } from '../../basics/errors.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import type { KnowledgeStore } from '../../knowledge/contract/contents.js'
import type { Log, Resource } from '../../log/contract/log.js'
import { checkExpects } from '../../log/contract/precondition.js'
import { withoutIds } from '../../log/contract/lookups.js'
import { connectionNamed } from '../../log/read/by-name.js'
import { tokensIn } from '../../dialect/lexer.js'
import { isNameLike, isSymbol, isWord } from '../../dialect/tokens.js'
import { leave, type SqlAnswer } from '../contract/answer.js'
import { rowsOf } from '../contract/query-rows.js'
import type { RunningStatement } from '../contract/request.js'
import { readConditions } from '../statements/conditions.js'
import type { Name, StatementOf, TableName } from '../statements/statement.js'
import { evaluateKnowledge } from './evaluate-knowledge.js'
import { rowsAnswer, type Reader } from './reader.js'

export type KnowledgeWriterOptions = { ledger: Ledger; log: Pick<Log, 'resources'>; knowledge: KnowledgeStore }

type Table = Extract<SqlAnswer, { type: 'table' }>

/** The columns under the names in the statement. */
const namedColumns = ({ columns }: Table, into: readonly string[] | null, isValues: boolean): { name: string }[] => {
  if (into === null && isValues)
    throw wrong('VALUES have no names of columns', "Name them: INSERT INTO name (id, content) VALUES ('1', '…').")
  if (into !== null && into.length !== columns.length)
    throw wrong(`the statement names ${into.length} columns, and its rows have ${columns.length}`)
  return columns.map(({ name }, i) => ({ name: into?.[i] ?? name }))
}

/**
 * The execution of a statement about documents. They are in another stream than the knowledge base, so its version is checked here.
 *
 * @throws Problem 412 when the knowledge base has another version than is expected
 */
const executionFor = ({ version }: Resource<'knowledge_base'>, { expects, ...execution }: Execution = {}): Execution => {
  if (expects) checkExpects(expects, version)
  return execution
}

/** Answers the statements that write documents of knowledge bases or evaluate their search. */
export class KnowledgeWriter {
  constructor(
    private readonly options: KnowledgeWriterOptions,
    private readonly reader: Reader,
  ) {}

  /** `INSERT INTO`: the rows become documents; undefined if the table is no knowledge base. */
  async insert(statement: StatementOf<'insert'>, running: RunningStatement): Promise<SqlAnswer | undefined> {
    const { context, origin, signal, query } = running
    const base = await this.#baseNamed(statement.target, context.db)
    if (!base) return undefined
    const execution = executionFor(base, running.execution)
    const text = query.slice(statement.rows.start, statement.rows.end)
    const isValues = /^[\s(]*VALUES\b/i.test(text)
    // Rows of a query may be erased before they are recorded; VALUES may have subqueries.
    const guarded = await this.options.ledger.guarded(origin)
    const answer = await this.reader.select({ sql: query, within: statement.rows }, { ...running, format: 'json' })
    if (answer.type !== 'table') throw new TypeError('a query was not answered with a table')
    try {
      const rows = rowsOf(namedColumns(answer, statement.columns, isValues), answer.rows)
      const inserted = await this.options.knowledge.insert({
        ...{ knowledgeBase: base, rows, isAtomic: isValues, origin: guarded, execution },
        source: isValues ? 'rows' : await this.#sourceOf(text, context.db),
        ...(signal && { signal }),
      })
      return { type: 'ok', affected_rows: inserted.documents, context, positions: [...answer.positions, ...inserted.positions] }
    } finally {
      // The source of the rows does not notice a refusal before the reading, so the rows are closed here.
      await leave(answer)
    }
  }

  /** `DELETE FROM` and `UPDATE`; undefined if the table is no knowledge base. */
  async change({ verb, target, where }: StatementOf<'table_write'>, running: RunningStatement): Promise<SqlAnswer | undefined> {
    const { context, origin, signal } = running
    const base = await this.#baseNamed(target, context.db)
    if (!base) return undefined
    if (verb === 'update')
      throw new Problem('refused_statement', 'Documents are not changed in place', 'UPDATE is not possible: a document is inserted anew', {
        hint: `INSERT INTO ${target.name} … with the same id takes its place; the one before stays readable AT (VERSION => …).`,
      })
    const execution = executionFor(base, running.execution)
    const filters = where === '' ? [] : readConditions(where)
    const { documents, positions } = await this.options.knowledge.remove({
      ...{ knowledgeBase: base, filters, origin, execution },
      ...(signal && { signal }),
    })
    return { type: 'ok', affected_rows: documents, context, positions }
  }

  /** Asks the questions of a table, and reports the quality of the search. */
  async evaluate({ target, using }: StatementOf<'evaluate_knowledge_base'>, running: RunningStatement): Promise<SqlAnswer> {
    const { context, signal, origin, position: asOf } = running
    const base = await this.#existing(target, context.db)
    return rowsAnswer(
      await evaluateKnowledge(base, using, {
        ...{ knowledge: this.options.knowledge, read: (sql) => this.#read(sql, running) },
        searchFor: { origin, purpose: 'evaluation', signal },
        ...(asOf !== undefined && { asOf }),
      }),
      context,
    )
  }

  /**
   * `CREATE INDEX` and `DROP INDEX`: documents are indexed when they are inserted, so there is nothing to do.
   *
   * @throws Problem not_found for a knowledge base that does not exist
   */
  async checkIndexed({ target, ifExists }: StatementOf<'index_knowledge_base'>, { context }: RunningStatement): Promise<void> {
    if (!ifExists) await this.#existing(target, context.db)
  }

  /** @throws Problem not_found */
  async #existing({ project: named, name }: Name, db: string): Promise<Resource<'knowledge_base'>> {
    const project = await this.#resources.one('project', named ?? db)
    if (!project) throw notFound('project', named ?? db)
    const base = await this.#resources.one('knowledge_base', name, project)
    if (!base) throw notFound('knowledge base', name)
    return base
  }

  async *#read(sql: string, running: RunningStatement): AsyncGenerator<JsonObject, void, void> {
    const answer = await this.reader.made(sql, { ...running, format: 'json' })
    if (answer.type !== 'table') throw new TypeError('a query was not answered with a table')
    yield* rowsOf(answer.columns, answer.rows)
  }

  get #resources() {
    return withoutIds(this.options.log.resources)
  }

  async #baseNamed({ database, name }: TableName, db: string): Promise<Resource<'knowledge_base'> | undefined> {
    const project = await this.#resources.one('project', database ?? db)
    return project && this.#resources.one('knowledge_base', name, project)
  }

  /** The table that the first FROM of a query names. */
  async #sourceOf(query: string, db: string): Promise<ContentsSource> {
    const tokens = tokensIn(query) ?? []
    const at = tokens.findIndex((token, i) => isNameLike(token) && isWord(tokens[i - 1], 'FROM'))
    const isQualified = isSymbol(tokens[at + 1], '.') || isSymbol(tokens[at + 1], '(')
    const database = at < 0 ? '' : isQualified ? (tokens[at]?.value ?? '') : db
    if (database.toLowerCase() === 'files') return 'file'
    return (await connectionNamed(this.#resources, database)) ? 'connection' : 'query'
  }
}
