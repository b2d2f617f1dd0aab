import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import type { StreamId } from '../../../../events/common.js'
import { LRUCache } from 'lru-cache'
import { engineSpoken } from '../../../catalogue/connection-engines.js'
import { named } from '../../../dialect/names.js'
import { ownRows } from '../ast/checked-text.js'
import { perInstance } from '../duckdb-connection/duckdb-connection.js'
import { at } from '../../relations/relation.js'

export type ProjectEntry = { name: string; stream: string }
export type ViewEntry = { name: string; stream: string; query: string; database: string }
export type DatabaseEntry = { name: string; engine: string; stream: string }
export type FileEntry = { name: string; content: string; isTable: boolean }
export type AgentEntry = { name: string; stream: StreamId }
export type KnowledgeEntry = { name: string; stream: string; metadataColumns: readonly string[] }
export type ModelEntry = { name: string; stream: StreamId; active: number | null }
export type ModelVersionEntry = { version: number; status: string; error: string | null; artefact: string | null; target: string }

const text = (value: DuckDBValue | undefined): string => (typeof value === 'string' ? value : '')
const textOrNull = (value: DuckDBValue | undefined): string | null => (typeof value === 'string' ? value : null)

/** The number of characters that all lists may have together: one list for each position and question, some with the queries of views. */
const keptChars = 32_000_000
/** What a cell takes besides its text, in characters. */
const cellChars = 16

const charsOf = (rows: readonly DuckDBValue[][], key: string): number => {
  let chars = key.length + 1
  for (const row of rows) for (const cell of row) chars += cellChars + (typeof cell === 'string' ? cell.length : 0)
  return chars
}

const listsOf = perInstance(() => new LRUCache<string, DuckDBValue[][]>({ maxSize: keptChars, sizeCalculation: charsOf }))

/** Rows of `valid_from, since, valid_to, until` as lives. Two lives without a gap between them become one. */
const joined = (rows: DuckDBValue[][], upTo: number): Life[] => {
  const lives: Life[] = []
  for (const [from, since, to, until] of rows) {
    const end = to === null || to === undefined || Number(to) > upTo ? null : Number(to)
    const last = lives.at(-1)
    if (last?.to === Number(from)) Object.assign(last, { to: end, until: end === null ? null : text(until) })
    else lives.push({ from: Number(from), since: text(since), to: end, until: end === null ? null : text(until) })
  }
  return lives
}

/** A period in which something had a name, in positions and times; `to` is null while it still has the name. */
export type Life = { from: number; since: string; to: number | null; until: string | null }

/** The things that may be missing at a position: a project or a file by its name, or a resource in a project by both names. */
export type MissingName = {
  table: 'projects' | 'databases' | 'files' | 'views' | 'models' | 'knowledge_bases'
  name: string
  project?: string
}

/**
 * The meaning of names at a log position: projects, and the views, models and files in them.
 * Rows of a history never change at a position that has been projected. So each list is read once for all queries at that position.
 */
export class Directory {
  private readonly lists: LRUCache<string, DuckDBValue[][]>

  constructor(
    private readonly connection: DuckDBConnection,
    instance: DuckDBInstance,
  ) {
    this.lists = listsOf(instance)
  }

  /**
   * The last erasure that erased a content, if no file got the content again after it. A reader of the past is
   * affected by it, too, so the newest rows are searched.
   */
  async erasure(content: string): Promise<{ position: number; reason: string | null } | undefined> {
    const sql = `SELECT position, reason FROM ledger.erasures AS e WHERE list_contains(blobs, $content)
      AND NOT EXISTS (SELECT 1 FROM ledger.files_history AS f WHERE f.content = $content AND f.valid_from > e.position)
      ORDER BY position DESC LIMIT 1`
    const [[position, reason] = []] = await ownRows(this.connection, sql, { content })
    return position === undefined ? undefined : { position: Number(position), reason: typeof reason === 'string' ? reason : null }
  }

  private async rows(sql: string, parameters: Record<string, DuckDBValue>): Promise<DuckDBValue[][]> {
    const key = [sql, ...Object.values(parameters).map(String)].join('\n')
    const known = this.lists.get(key)
    if (known) return known
    const rows = await ownRows(this.connection, sql, parameters)
    this.lists.set(key, rows)
    return rows
  }

  /** The projects at a position of the log, in the order of their creation. */
  async projects(position: number): Promise<ProjectEntry[]> {
    const rows = await this.rows(`SELECT name, stream FROM ${at('projects')} AS p ORDER BY id`, { position })
    return rows.map(([name, stream]) => ({ name: text(name), stream: text(stream) }))
  }

  /** The project with this name at a position of the log; undefined if it does not exist. */
  async project(position: number, name: string): Promise<ProjectEntry | undefined> {
    return named(await this.projects(position), name)
  }

  /** Whether a project had a name at a position of the log or before. */
  async hadName(position: number, { stream }: ProjectEntry, name: string): Promise<boolean> {
    const sql = 'SELECT DISTINCT name FROM ledger.projects_history WHERE stream = $stream AND valid_from <= $position'
    const names = (await this.rows(sql, { position, stream })).map(([known]) => ({ name: text(known) }))
    return named(names, name) !== undefined
  }

  /** The views of a project (its stream) at a position of the log. */
  async views(position: number, project: string): Promise<ViewEntry[]> {
    const sql = `SELECT name, stream, query, database FROM ${at('views')} AS v WHERE project = $project ORDER BY id`
    const rows = await this.rows(sql, { position, project })
    return rows.map(([name, stream, query, database]) => ({
      name: text(name),
      stream: text(stream),
      query: text(query),
      database: text(database),
    }))
  }

  /** The uploaded files at a position of the log, including files that are not tables. */
  async files(position: number): Promise<FileEntry[]> {
    const rows = await this.rows(`SELECT name, content, json_array_length(columns) > 0 FROM ${at('files')} AS f ORDER BY id`, { position })
    return rows.map(([name, content, isTable]) => ({ name: text(name), content: text(content), isTable: isTable === true }))
  }

  /** The connections at a position of the log, each with its engine. */
  async databases(position: number): Promise<DatabaseEntry[]> {
    const named = `list_filter(json_keys(parameters), lambda k: lower(k) = 'db_engine')[1]`
    const sql = `SELECT name, engine, stream, json_extract_string(parameters, '$.' || ${named}) FROM ${at('databases')} AS d ORDER BY id`
    const rows = await this.rows(sql, { position })
    return rows.map(([name, engine, stream, dbEngine]) => ({
      name: text(name),
      engine: engineSpoken(text(engine), { db_engine: dbEngine }),
      stream: text(stream),
    }))
  }

  /** The models of a project (its stream) at a position of the log; `active` is the active version, or null if there is none. */
  async models(position: number, project: string): Promise<ModelEntry[]> {
    const sql = `SELECT name, stream, active FROM ${at('models')} AS m WHERE project = $project ORDER BY id`
    const rows = await this.rows(sql, { position, project })
    return rows.map(([name, stream, active]) => ({
      name: text(name),
      // The log checked this value before it was written.
      stream: text(stream) as StreamId,
      active: typeof active === 'number' ? active : null,
    }))
  }

  /** The agents of a project (its stream) at a position of the log. */
  async agents(position: number, project: string): Promise<AgentEntry[]> {
    const rows = await this.rows(`SELECT name, stream FROM ${at('agents')} AS a WHERE project = $project ORDER BY id`, {
      position,
      project,
    })
    return rows.map(([name, stream]) => ({ name: text(name), stream: text(stream) as StreamId }))
  }

  /** The knowledge bases of a project (its stream) at a position of the log. */
  async knowledgeBases(position: number, project: string): Promise<KnowledgeEntry[]> {
    const sql = `SELECT name, stream, CAST(metadata_columns AS VARCHAR) FROM ${at('knowledge_bases')} AS k WHERE project = $project ORDER BY id`
    const rows = await this.rows(sql, { position, project })
    return rows.map(([name, stream, columns]) => ({
      name: text(name),
      stream: text(stream),
      metadataColumns: JSON.parse(text(columns) || '[]') as string[],
    }))
  }

  /** The versions of a model (its stream) at a position of the log, the oldest first. */
  async versions(position: number, model: string): Promise<ModelVersionEntry[]> {
    const sql = `SELECT version, status, error, artefact, target FROM ${at('model_versions')} AS v WHERE stream = $model ORDER BY version`
    const rows = await this.rows(sql, { position, model })
    return rows.map(([version, status, error, artefact, target]) => ({
      version: Number(version),
      status: text(status),
      error: textOrNull(error),
      artefact: textOrNull(artefact),
      target: text(target),
    }))
  }

  /**
   * The periods in which a name meant something, over the whole log up to a position. A change that keeps the name does not end a period.
   */
  async lives({ table, name, project }: MissingName, upTo: number): Promise<Life[]> {
    const inProject = `AND h.project IN (SELECT stream FROM ledger.projects_history WHERE name = $project)`
    const sql = `SELECT h.valid_from, CAST(h.changed_at AS VARCHAR), h.valid_to, CAST(e.recorded_at AS VARCHAR)
      FROM ledger.${table}_history AS h LEFT JOIN ledger.events AS e ON e.position = h.valid_to
      WHERE h.name = $name AND h.valid_from <= $upTo ${project === undefined ? '' : inProject} ORDER BY h.valid_from`
    return joined(await this.rows(sql, { name, upTo, ...(project !== undefined && { project }) }), upTo)
  }

  /** The period in which a version of a model existed, or was complete. */
  async versionLives(model: string, version: number, upTo: number, status: string | null = null): Promise<Life[]> {
    const sql = `SELECT h.valid_from, CAST(h.changed_at AS VARCHAR), h.valid_to, CAST(e.recorded_at AS VARCHAR)
      FROM ledger.model_versions_history AS h LEFT JOIN ledger.events AS e ON e.position = h.valid_to
      WHERE h.stream = $model AND h.version = $version AND h.valid_from <= $upTo AND ($status IS NULL OR h.status = $status) ORDER BY h.valid_from`
    return joined(await this.rows(sql, { model, version, upTo, status }), upTo)
  }

  /** The time at which the event of a position was recorded, in UTC. */
  async timeOf(position: number): Promise<string | undefined> {
    const rows = await this.rows('SELECT CAST(recorded_at AS VARCHAR) FROM ledger.events WHERE position = $position', { position })
    return textOrNull(rows[0]?.[0]) ?? undefined
  }

  /** The last position recorded at or before a time (microseconds since 1970), or undefined if the log began later. */
  async positionAt(microseconds: bigint, upTo: number): Promise<number | undefined> {
    const sql = 'SELECT max(position) FROM ledger.events WHERE position <= $upTo AND recorded_at <= make_timestamp($microseconds::BIGINT)'
    const rows = await this.rows(sql, { upTo, microseconds })
    const position = rows[0]?.[0]
    return position === null || position === undefined ? undefined : Number(position)
  }
}
