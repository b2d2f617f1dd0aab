import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { foldName, resourceName } from '../../../events/common.js'
import type { FileContent } from '../../../events/file.js'
import { isStaleBase } from '../../commands/file.js'
import { ErasedMeanwhile, type Execution, type Ledger } from '../../commands/ledger.js'
import { everyResource } from '../../log/read/every-resource.js'
import { erasureOfBlob } from '../../log/read/find-erasure.js'
import { erased, isProblem, notFound, Problem, wrong } from '../../basics/errors.js'
import { naming, type BlobStore } from '../../files/blob-store.js'
import { isTable } from '../../files/formats/formats.js'
import { limits } from '../../basics/limits.js'
import type { Log, Resource, Origin } from '../../log/contract/log.js'
import { KeyedTurns } from '../../basics/concurrency/keyed-turns.js'
import { badStatement } from '../../dialect/lexer.js'
import { similarName } from '../../dialect/names.js'
import { HeldData } from '../../models/training/held-data.js'
import type { ErasableReads } from '../contract/answer.js'
import type { SelectPart } from '../contract/select.js'
import type { TableBefore } from '../contract/select-purpose.js'
import type { ColumnDefinition, StatementOf, TableName } from '../statements/statement.js'
import { backQuoteName } from '../../dialect/strings.js'

/** The one answer row of a SELECT to a file, the positions of its events, and the data in the file that may be erased later. */
type RowsToFile = { row: readonly unknown[]; positions: number[]; erasable?: ErasableReads | undefined }

/** Runs a SELECT of the current statement. */
export type RunToFile = (select: SelectPart) => Promise<RowsToFile>

/** The current statement. */
export type WriteContext = { query: string; db: string; origin: Origin; execution?: Execution | undefined; run: RunToFile }

/** `rows` is the number of written rows; it is null in the answer to a repeated request with the same key. */
export type TableWriteResult = { rows: number | null; positions: number[] }

/** A stored content, the origin of the command that names it, and the content of the same file from which it was made. */
type WrittenFile = { content: FileContent; positions: number[]; guarded: Origin; base?: string }

/** The refusal to write a table that is no file. `where` is its database. */
export const notAFile = ({ name }: TableName, where: string): Problem =>
  new Problem('refused_statement', 'Only files are written to', `${where}.${name} is not a file`, {
    hint: `Tables are written in files: files.${name}. Resources are changed by their own statements, such as UPDATE AGENT; tables of connections are changed where they are.`,
  })

/** The name of the file that a statement writes. It is in lower case like all names of files. */
const fileName = (target: TableName, db: string): string => {
  const where = target.database ?? db
  if (foldName(where) !== 'files') throw notAFile(target, where)
  const parsed = resourceName.safeParse(target.name)
  if (!parsed.success || target.name.includes('.')) throw wrong(`the name of a file has no dot and is short text, not ${target.name}`)
  return foldName(target.name)
}

/** A query without rows that has the columns of an empty table. In back-quotes a backslash is no escape. */
const emptyQuery = (columns: readonly ColumnDefinition[]): string =>
  `SELECT ${columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${backQuoteName(name)}`).join(', ')} WHERE FALSE`

/** The error about a column's type, at the place of the type. */
const wrongType = (error: unknown, query: string, columns: readonly ColumnDefinition[]): unknown => {
  if (!isProblem(error) || error.code === 'query_limit') return error
  const [reason = ''] = error.detail.replace(`${error.title}: `, '').split(/ \(line \d|\n/)
  const guilty = columns.find(({ type }) => reason.includes(type)) ?? columns[0]
  return guilty ? badStatement(query, guilty.span.start, reason, 'A column is a name and a type: (a INTEGER, b VARCHAR).') : error
}

const isColumns = (value: unknown): value is FileContent['columns'] => Array.isArray(value)

/** Writes a file, and again when the content changed from which the new one was made. */
const untilOnNewest = async (write: () => Promise<TableWriteResult>): Promise<TableWriteResult> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await write()
    } catch (error) {
      if (!isStaleBase(error) || attempt >= limits.insertRetriesMax) throw error
    }
}

/**
 * Writes tables of rows as files. A query's rows become a blob under its hash. The command that names the blob is executed after that. So a
 * failure or cancellation before the command leaves no readable data behind.
 */
export class TableWriter {
  /**
   * Statements that write one file again from its own rows take turns. Without turns, all but the first would do their work for nothing.
   */
  readonly #turns = new KeyedTurns()

  constructor(private readonly options: { ledger: Ledger; log: Log; blobs: BlobStore; directory: string }) {}

  /**
   * Makes a table, or gives it other rows. Rows that were made from those of the table itself replace no newer ones: the query then runs
   * again.
   * @throws Problem when the table already exists, or its query fails
   */
  async create(statement: StatementOf<'create_table'>, writing: WriteContext): Promise<TableWriteResult> {
    const file = fileName(statement.target, writing.db)
    const write = () => this.#unlessRepeated(writing, () => this.#create(file, statement, writing))
    try {
      return await write()
    } catch (error) {
      if (!isStaleBase(error)) throw error
    }
    // A long query keeps no other statement from adding rows, unless their writes have overtaken it once.
    return this.#turns.take(file, () => untilOnNewest(write))
  }

  /** Adds rows: the file gets a new content. Time travel can still read the content before. */
  async insert(statement: StatementOf<'insert'>, writing: WriteContext): Promise<TableWriteResult> {
    const file = fileName(statement.target, writing.db)
    const write = () => this.#unlessRepeated(writing, () => this.#append(file, statement, writing))
    return this.#turns.take(file, () => untilOnNewest(write))
  }

  /** Writes a file, unless a statement with the same key has already written it. */
  async #unlessRepeated({ origin, execution = {} }: WriteContext, write: () => Promise<TableWriteResult>): Promise<TableWriteResult> {
    const repeated = await this.options.ledger.repeated(origin, execution)
    return repeated ? { rows: null, positions: repeated.positions } : write()
  }

  async #create(
    file: string,
    { ifNotExists, replace, rows }: StatementOf<'create_table'>,
    writing: WriteContext,
  ): Promise<TableWriteResult> {
    const { ledger, log, blobs } = this.options
    const { query, execution } = writing
    const there = await log.resources.one('file', file)
    if (there && ifNotExists && !replace) return { rows: 0, positions: [] }
    if (there && !replace) throw alreadyThere(file)
    const { content, positions, guarded, base } = Array.isArray(rows)
      ? await this.#make({ sql: emptyQuery(rows) }, writing).catch((error: unknown) => {
          throw wrongType(error, query, rows)
        })
      : await this.#make({ sql: query, within: rows }, writing, { replaces: file })
    const data = { file, content }
    const outcome = await naming(blobs, [content.content], () =>
      ledger.execute(
        replace
          ? { type: 'ReplaceFile', data: { ...data, ...(base !== undefined && { base }) } }
          : { type: 'CreateFile', data: { ...data, unlessExists: ifNotExists } },
        guarded,
        execution,
      ),
    )
    return { rows: content.row_count, positions: [...positions, ...outcome.positions] }
  }

  async #append(file: string, { columns: into, rows }: StatementOf<'insert'>, writing: WriteContext): Promise<TableWriteResult> {
    const { state, updated_at } = await this.#found(file)
    if (!isTable(state)) throw new Problem('wrong_arguments', 'Not a table', `files.${file} is a model, which takes no rows`)
    await this.#requireContent(file, state.content, updated_at)
    const after = { content: state.content, columns: state.columns, into }
    const { content, positions, guarded } = await this.#make({ sql: writing.query, within: rows }, writing, { after })
    const added = content.row_count - state.row_count
    const data = { file, base: state.content, content: { ...content, original_name: state.original_name } }
    const outcome = await naming(this.options.blobs, [content.content], async () =>
      added === 0 ? { positions: [] } : this.options.ledger.execute({ type: 'AppendToFile', data }, guarded, writing.execution),
    )
    return { rows: added, positions: [...positions, ...outcome.positions] }
  }

  /** Rows cannot be added to erased rows. */
  async #requireContent(file: string, content: string, namedAt: string): Promise<void> {
    const { log, blobs } = this.options
    if (await blobs.has(content)) return
    const erasure = await erasureOfBlob(log, content, namedAt)
    if (erasure) throw erased(`The content of files.${file}`, erasure, `CREATE OR REPLACE TABLE files.${file} (SELECT …) begins it anew.`)
  }

  async #found(name: string): Promise<Resource<'file'>> {
    const { resources } = this.options.log
    const file = await resources.one('file', name)
    if (file) return file
    const known: string[] = []
    for await (const { state } of everyResource(resources, 'file')) known.push(state.name)
    const like = similarName(name, known)
    const { code, title, detail } = notFound('file', name)
    const hint = like === undefined ? `Create it first: CREATE TABLE files.${name} (SELECT …).` : `Did you mean files.${like}?`
    throw new Problem(code, title, detail, { hint })
  }

  /**
   * Writes the rows of the query to a blob.
   *
   * @throws ErasedMeanwhile if an erasure took some of them since it began to read
   */
  async #make(
    select: SelectPart,
    { run, origin }: WriteContext,
    target: { after?: TableBefore; replaces?: string } = {},
  ): Promise<WrittenFile> {
    const { ledger, log, blobs, directory } = this.options
    const path = join(directory, randomUUID())
    const held = await HeldData.since(log)
    try {
      const { row, positions, erasable } = await run({ ...select, wanted: { kind: 'file', path, ...target } })
      const [bytes, rowCount, columns, base] = row
      if (!isColumns(columns)) throw new TypeError('a table was written, and its columns are not known')
      held.note(erasable)
      // The command is refused after a later erasure.
      const guarded = await ledger.guarded(origin)
      if (await held.isErased()) throw new ErasedMeanwhile()
      const content = await blobs.put(path)
      return {
        content: { content, bytes: Number(bytes), row_count: Number(rowCount), columns, original_name: null },
        positions,
        guarded,
        ...(typeof base === 'string' && { base }),
      }
    } finally {
      await rm(path, { force: true })
    }
  }
}

const alreadyThere = (file: string): Problem =>
  new Problem('wrong_arguments', 'File already exists', `File with name '${file}' already exists`, {
    hint: `CREATE OR REPLACE TABLE files.${file} gives it other rows; INSERT INTO files.${file} adds some.`,
  })
