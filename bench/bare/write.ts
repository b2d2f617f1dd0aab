import Database from 'better-sqlite3'
import express from 'express'
import { join } from 'node:path'
import { z } from 'zod'

// The minimum that gives the same answer and stores the same bytes as durably: Express, one SQLite file, group commit. Like every
// service it checks the body, finds the project, and refuses a name that is taken.
const db = new Database(join(process.env['DATA_DIR'] ?? '.', 'bare.sqlite'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`CREATE TABLE events (position INTEGER PRIMARY KEY, text TEXT NOT NULL, chain BLOB NOT NULL) STRICT;
  CREATE TABLE resources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL) STRICT;
  CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  INSERT INTO projects (name) VALUES ('mindsdb')`)
const selectProject = db.prepare<[string], number>('SELECT id FROM projects WHERE name = ?').pluck()
const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?)')
const insertResource = db.prepare('INSERT INTO resources VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING')
const chain = Buffer.alloc(32)
const stream = '01a1fdcb-e12f-7333-ac0d-5c0fc5e70fae'
// The other fields of every event's envelope, besides position, time and data: as many bytes as in the real log.
const ids = { stream, request: stream, correlation: null, causation: null }
const fixed = { ...ids, version: 1, type: 'SkillCreated', schema: 1, actor: 'anonymous', source: 'rest' }
let position = 1

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const body = z.object({ skill: z.object({ name: z.string().min(1).max(255), type: z.string(), params: z.custom<object>(isObject) }) })
type Skill = z.infer<typeof body>['skill']
let queue: { skill: Skill; done: (id: number, at: string) => void; taken: () => void }[] = []

const commit = () => {
  const batch = queue
  queue = []
  const written: (() => void)[] = []
  db.exec('BEGIN IMMEDIATE')
  for (const { skill, done, taken } of batch) {
    const id = position + 1
    const data = { project: stream, ...skill }
    if (insertResource.run(id, skill.name, JSON.stringify(data)).changes === 0) {
      written.push(taken)
      continue
    }
    position = id
    const at = new Date().toISOString().replace('Z', '000Z')
    const text = JSON.stringify({ position: id, ...fixed, recorded_at: at, data })
    insertEvent.run(id, text, chain)
    written.push(() => done(id, at))
  }
  db.exec('COMMIT')
  for (const answer of written) answer()
}

const app = express().disable('etag').disable('x-powered-by')
app.use(express.json())
app.get('/ready', (_req, res) => void res.json(''))
app.post('/api/projects/:project/skills', (req, res) => {
  const project_id = selectProject.get(req.params.project)
  if (project_id === undefined) return void res.status(404).end()
  const parsed = body.safeParse(req.body)
  if (!parsed.success) return void res.status(400).end()
  if (queue.length === 0) setImmediate(commit)
  const { skill } = parsed.data
  const { name, type, params } = skill
  const answer = (id: number, created_at: string) => ({ id, name, project_id, agent_ids: [], type, params, created_at })
  queue.push({
    skill,
    done: (id, at) => res.status(201).json(answer(id, at.slice(0, 26).replace('T', ' '))),
    taken: () => res.status(409).end(),
  })
})
app.listen(Number(process.env['PORT']), '127.0.0.1')
