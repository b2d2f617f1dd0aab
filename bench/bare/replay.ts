import Database from 'better-sqlite3'
import { DuckDBInstance } from '@duckdb/node-api'

// A bare loop from SQLite to DuckDB: read, append, one set of statements per batch. No checks, no history, no checkpoint.
const batchSize = 40_000
const takeApart = `CREATE OR REPLACE TEMP TABLE batch AS SELECT position, e.* FROM (SELECT position, from_json(text,
  '{"stream":"VARCHAR","version":"BIGINT","type":"VARCHAR","schema":"INTEGER","recorded_at":"TIMESTAMP","actor":"VARCHAR","source":"VARCHAR","request":"VARCHAR","correlation":"VARCHAR","causation":"VARCHAR","data":"JSON"}') AS e FROM incoming)`

/** Replays a log into a fresh DuckDB file and returns how many events and skills it holds. */
export const bareReplay = async (logFile: string, into: string): Promise<{ events: number; skills: number }> => {
  const db = new Database(logFile, { readonly: true })
  const read = db.prepare<[number, number], { position: number; text: string }>(
    'SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?',
  )
  const instance = await DuckDBInstance.create(into, { checkpoint_threshold: '64MB', memory_limit: '256MB' })
  const connection = await instance.connect()
  await connection.run(`CREATE TABLE events (position BIGINT, stream VARCHAR, version BIGINT, type VARCHAR, schema INTEGER, recorded_at TIMESTAMP, actor VARCHAR, source VARCHAR, request VARCHAR, correlation VARCHAR, causation VARCHAR, data JSON);
    CREATE TABLE skills (stream VARCHAR, id BIGINT, project VARCHAR, name VARCHAR, type VARCHAR, params JSON, created_at TIMESTAMP, created_by VARCHAR);
    CREATE TEMP TABLE incoming (position BIGINT, text VARCHAR)`)
  for (let position = 0; ;) {
    const page = read.all(position, batchSize)
    const last = page.at(-1)
    if (!last) break
    const appender = await connection.createAppender('incoming', 'main', 'temp')
    for (const event of page) {
      appender.appendBigInt(BigInt(event.position))
      appender.appendVarchar(event.text)
      appender.endRow()
    }
    appender.closeSync()
    await connection.run('BEGIN')
    await connection.run(takeApart)
    await connection.run('INSERT INTO events SELECT * FROM batch')
    await connection.run(
      `INSERT INTO skills SELECT stream, position, data->>'$.project', data->>'$.name', data->>'$.type', data->'$.params', recorded_at, actor FROM batch WHERE type = 'SkillCreated'`,
    )
    await connection.run('DELETE FROM incoming')
    await connection.run('COMMIT')
    position = last.position
  }
  const counted = await connection.runAndReadAll('SELECT (SELECT count(*)::INTEGER FROM events), (SELECT count(*)::INTEGER FROM skills)')
  const [[events, skills] = []] = counted.getRows()
  connection.closeSync()
  instance.closeSync()
  db.close()
  return { events: Number(events), skills: Number(skills) }
}
