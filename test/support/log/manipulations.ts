import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { genesis, nextChain } from '../../../events/stored/chain.js'
import { isProblem } from '../../../src/basics/errors.js'
import { openTree } from '../../../src/log/proof/stored-tree.js'
import { rebuildResources } from '../../../src/log/sqlite/rebuild.js'
import { readLogId } from '../../../src/log/storage/schema.js'
import { pick, type Random } from './honest-log.js'
import { tamperWith } from './log.js'

/** The input of a manipulation: the log's file, and copies that were made while the log grew. */
export type Victim = { file: string; older: readonly string[] }

/**
 * Possible manipulations by somebody with the file and time, but without the signing key. `isWhole` means that the file is consistent
 * afterwards, so only a head that was kept elsewhere reveals the manipulation.
 */
export type Manipulation = { name: string; isWhole: boolean; apply: (victim: Victim, random: Random) => void }

export type Row = { position: number; text: string; chain: Buffer }
type Rows = { rows: Row[]; random: Random }

const head = (db: Database.Database): number => db.prepare<[], number>('SELECT max(position) FROM events').pluck().get() ?? 0

const store = (db: Database.Database, rows: readonly Row[]): void => {
  db.exec('DROP INDEX events_by_stream; DELETE FROM events')
  const insert = db.prepare('INSERT INTO events (position, text, chain) VALUES (?, ?, ?)')
  for (const { position, text, chain } of rows) insert.run(position, text, chain)
  try {
    db.exec('CREATE UNIQUE INDEX events_by_stream ON events (stream, version)')
  } catch {
    // Two events have the same version. The unique index would forbid that, so it is not created again.
  }
}

/** Computes the chain again, from its beginning in this log. */
export const chained = (logId: string, rows: Row[]): void => {
  let chain = genesis(logId)
  for (const row of rows) row.chain = chain = nextChain(chain, row.text)
}

/** Renumbers the positions and versions of events, as if they had been written with these numbers. */
export const renumbered = (rows: Row[]): void => {
  const versions = new Map<string, number>()
  rows.forEach((row, i) => {
    const envelope = JSON.parse(row.text) as { stream: string; position: number; version: number }
    const version = (versions.get(envelope.stream) ?? 0) + 1
    versions.set(envelope.stream, version)
    row.position = i + 1
    row.text = JSON.stringify({ ...envelope, position: i + 1, version })
  })
}

/** Makes all derived data agree with the events: chain, tree, resources. */
const forge = (db: Database.Database, rows: Row[]): void => {
  chained(readLogId(db), rows)
  store(db, rows)
  db.exec('DELETE FROM tree')
  openTree(db, rows.length)
  try {
    rebuildResources(db)
  } catch (error) {
    // Contradictory events give no resources; the old ones stay.
    if (!isProblem(error)) throw error
  }
}

const anywhere = (rows: readonly Row[], random: Random): number => random.below(rows.length)
const otherText = (text: string): string => text.replace(/"actor":"[^"]*"/, '"actor":"nobody"')

/** Possible manipulations of the events of a log, wherever the events are stored. */
export const changes: Readonly<Record<string, (rows: Rows) => void>> = {
  'a text edited': ({ rows, random }) => {
    const row = pick(random, rows)
    row.text = otherText(row.text)
  },
  'two texts swapped': ({ rows, random }) => {
    const at = anywhere(rows.slice(1), random)
    ;[rows[at]!.text, rows[at + 1]!.text] = [rows[at + 1]!.text, rows[at]!.text]
  },
  'two events swapped': ({ rows, random }) => {
    const at = anywhere(rows.slice(1), random)
    ;[rows[at], rows[at + 1]] = [
      { ...rows[at + 1]!, position: at + 1 },
      { ...rows[at]!, position: at + 2 },
    ]
  },
  'an event deleted': ({ rows, random }) => void rows.splice(anywhere(rows.slice(1), random), 1),
  'an event inserted': ({ rows, random }) => {
    const at = anywhere(rows, random)
    rows.splice(at, 0, { ...rows[at]!, text: otherText(rows[at]!.text) })
    for (const row of rows.slice(at + 1)) row.position++
  },
  'the end cut off': ({ rows, random }) => void rows.splice(-1 - random.below(Math.min(80, rows.length - 1))),
}

const onRows =
  (change: (rows: Rows) => void, finish: (db: Database.Database, rows: Row[]) => void): Manipulation['apply'] =>
  ({ file }, random) =>
    tamperWith(file, (db) => {
      const rows = db.prepare<[], Row>('SELECT position, text, chain FROM events ORDER BY position').all()
      change({ rows, random })
      finish(db, rows)
    })

const ofRows: Manipulation[] = Object.entries(changes).flatMap(([name, change]) => [
  // If the removed events had no resource and no tile, the end is consistent with the rest.
  { name, isWhole: name === 'the end cut off', apply: onRows(change, store) },
  {
    name: `${name}, chain recomputed`,
    isWhole: name === 'the end cut off' || name === 'a text edited',
    apply: onRows(change, (db, rows) => {
      chained(readLogId(db), rows)
      store(db, rows)
    }),
  },
  {
    name: `${name}, everything recomputed but the signature`,
    isWhole: true,
    apply: onRows(change, (db, rows) => {
      renumbered(rows)
      forge(db, rows)
    }),
  },
])

const statements: Record<string, string> = {
  'a resource edited': `UPDATE resources SET state = json_set(state, '$.name', 'x' || ?) WHERE rowid = (SELECT rowid FROM resources ORDER BY rowid LIMIT 1 OFFSET @n)`,
  'a resource of another version':
    'UPDATE resources SET version = version + 1 WHERE rowid = (SELECT rowid FROM resources LIMIT 1 OFFSET @n)',
  'a resource deleted': 'DELETE FROM resources WHERE rowid = (SELECT rowid FROM resources LIMIT 1 OFFSET @n)',
  'a resource inserted': `INSERT INTO resources SELECT 'new', kind, project, 'new', -1, version, created_at, updated_at, state FROM resources LIMIT 1 OFFSET @n`,
  'a link deleted': 'DELETE FROM links WHERE (source, target) IN (SELECT source, target FROM links LIMIT 1)',
  'a link inserted': `INSERT INTO links SELECT stream, 'nothing' FROM resources LIMIT 1 OFFSET @n`,
  'a payload’s ciphertext edited': `UPDATE payloads SET body = CAST(body || x'00' AS BLOB) WHERE hash = (SELECT hash FROM payloads WHERE wrapped IS NOT NULL LIMIT 1 OFFSET @n)`,
  'a payload’s key edited': `UPDATE payloads SET wrapped = CAST(substr(wrapped, 1, 59) || x'00' AS BLOB) WHERE hash = (SELECT hash FROM payloads WHERE wrapped IS NOT NULL AND substr(wrapped, 60) <> x'00' LIMIT 1 OFFSET @n)`,
  'a payload’s key taken away':
    'UPDATE payloads SET wrapped = NULL WHERE hash = (SELECT hash FROM payloads WHERE wrapped IS NOT NULL LIMIT 1 OFFSET @n)',
  'a payload erased without an event': `UPDATE payloads SET wrapped = NULL, body = x'' WHERE hash = (SELECT hash FROM payloads WHERE wrapped IS NOT NULL LIMIT 1 OFFSET @n)`,
  'a payload deleted': 'DELETE FROM payloads WHERE hash = (SELECT hash FROM payloads LIMIT 1 OFFSET @n)',
  'a tile edited': `UPDATE tree SET nodes = CAST(substr(nodes, 1, 32 * @n) || randomblob(32) || substr(nodes, 32 * @n + 33) AS BLOB) WHERE id = 0`,
  'a tile deleted': 'DELETE FROM tree WHERE id = (SELECT id FROM tree LIMIT 1)',
  'a tile inserted': 'INSERT INTO tree SELECT id + 1000, nodes FROM tree LIMIT 1',
  'a tree of other events': 'UPDATE tree SET nodes = randomblob(4032)',
  'another log’s id': `UPDATE meta SET value = 'another' WHERE key = 'log_id'`,
  'events put before the first': `INSERT INTO events (position, text, chain) SELECT -@n, json_set(text, '$.version', 99), chain FROM events WHERE position = 1`,
}

const ofStatements: Manipulation[] = Object.entries(statements).map(([name, statement]) => ({
  name,
  isWhole: false,
  apply: ({ file }, random) =>
    tamperWith(file, (db) => {
      const prepared = db.prepare(statement.replace('?', '@n'))
      // It counts down from a random number until a row is changed.
      for (let n = 1 + random.below(6); n >= 0; n--) if (prepared.run(...(statement.includes('@n') ? [{ n }] : [])).changes > 0) return
    }),
}))

const onBytes =
  (change: (handle: number, size: number, random: Random) => void): Manipulation['apply'] =>
  ({ file }, random) => {
    const handle = openSync(file, 'r+')
    change(handle, fstatSync(handle).size, random)
    closeSync(handle)
  }

const pageBytes = 4_096
const page = (handle: number, n: number): Buffer => {
  const bytes = Buffer.alloc(pageBytes)
  readSync(handle, bytes, 0, pageBytes, n * pageBytes)
  return bytes
}

const ofBytes: Manipulation[] = [
  {
    name: 'bytes of the file changed',
    isWhole: false,
    apply: onBytes((handle, size, random) => {
      for (let i = 0; i <= random.below(8); i++) writeSync(handle, Buffer.of(random.below(256)), 0, 1, 100 + random.below(size - 100))
    }),
  },
  {
    name: 'a page of the file emptied',
    isWhole: false,
    apply: onBytes(
      (handle, size, random) => void writeSync(handle, Buffer.alloc(pageBytes), 0, pageBytes, random.below(size / pageBytes) * pageBytes),
    ),
  },
  {
    name: 'two pages of the file swapped',
    isWhole: false,
    apply: onBytes((handle, size, random) => {
      const [a, b] = [1 + random.below(size / pageBytes - 1), 1 + random.below(size / pageBytes - 1)]
      const [first, second] = [page(handle, a), page(handle, b)]
      writeSync(handle, second, 0, pageBytes, a * pageBytes)
      writeSync(handle, first, 0, pageBytes, b * pageBytes)
    }),
  },
  {
    name: 'the file cut off',
    isWhole: false,
    apply: onBytes((handle, size, random) => ftruncateSync(handle, (1 + random.below(size / pageBytes - 1)) * pageBytes)),
  },
]

const oldFile: Manipulation = {
  name: 'an old file put back',
  isWhole: true,
  apply: ({ file, older }, random) => copyFileSync(pick(random, older), file),
}

export const manipulations: readonly Manipulation[] = [...ofRows, ...ofStatements, ...ofBytes, oldFile]

/** The content that `verify` checks in a file: two files with equal content here are the same log. Undefined if it cannot be read. */
export const contentOf = (db: Database.Database): string | undefined => {
  try {
    const tables = ['events', 'payloads', 'resources', 'links', 'tree'].map((table) =>
      db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all(),
    )
    return JSON.stringify([readLogId(db), head(db), tables])
  } catch {
    return undefined
  }
}
