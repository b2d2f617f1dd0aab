import Database from 'better-sqlite3'
import express from 'express'
import { join } from 'node:path'

// The minimum that gives the same answer and stores the same bytes as durably: Express, one SQLite file, group commit.
const db = new Database(join(process.env['DATA_DIR'] ?? '.', 'bare.sqlite'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`CREATE TABLE events (position INTEGER PRIMARY KEY, text TEXT NOT NULL, chain BLOB NOT NULL) STRICT;
  CREATE TABLE resources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL) STRICT`)
const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?)')
const insertResource = db.prepare('INSERT INTO resources VALUES (?, ?, ?)')
const chain = Buffer.alloc(32)
const stream = '01a1fdcb-e12f-7333-ac0d-5c0fc5e70fae'
// The other fields of every event's envelope, besides position, time and data: as many bytes as in the real log.
const ids = { stream, request: stream, correlation: null, causation: null }
const fixed = { ...ids, version: 1, type: 'SkillCreated', schema: 1, actor: 'anonymous', source: 'rest' }
let position = 1

type Skill = { name: string; type: string; params: object }
let queue: { skill: Skill; done: (id: number, at: string) => void }[] = []

const commit = () => {
  const batch = queue
  queue = []
  const written: (() => void)[] = []
  db.exec('BEGIN IMMEDIATE')
  for (const { skill, done } of batch) {
    const id = ++position
    const at = new Date().toISOString().replace('Z', '000Z')
    const data = { project: stream, ...skill }
    const text = JSON.stringify({ position: id, ...fixed, recorded_at: at, data })
    insertEvent.run(id, text, chain)
    insertResource.run(id, skill.name, JSON.stringify(data))
    written.push(() => done(id, at))
  }
  db.exec('COMMIT')
  for (const answer of written) answer()
}

const app = express().disable('etag').disable('x-powered-by')
app.use(express.json())
app.get('/ready', (_req, res) => void res.json(''))
app.post('/api/projects/:project/skills', (req, res) => {
  const { skill } = req.body as { skill: Skill }
  if (queue.length === 0) setImmediate(commit)
  const { name, type, params } = skill
  const answer = (id: number, created_at: string) => ({ id, name, project_id: 1, agent_ids: [], type, params, created_at })
  queue.push({ skill, done: (id, at) => res.status(201).json(answer(id, at.slice(0, 26).replace('T', ' '))) })
})
app.listen(Number(process.env['PORT']), '127.0.0.1')
