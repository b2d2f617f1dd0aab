import Database from 'better-sqlite3'
import express from 'express'
import { join } from 'node:path'

// The minimum that gives the same answer: Express and one point read.
const db = new Database(join(process.env['DATA_DIR'] ?? '.', 'bare.sqlite'))
db.pragma('journal_mode = WAL')
db.exec('CREATE TABLE resources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL, state TEXT NOT NULL) STRICT')
const insert = db.prepare('INSERT INTO resources (name, created_at, state) VALUES (?, ?, ?) RETURNING id').pluck()
const select = db.prepare<[string], { id: number; created_at: string; state: string }>(
  'SELECT id, created_at, state FROM resources WHERE name = ?',
)

type Skill = { name: string; type: string; params: object }
const record = (id: number, created_at: string, { name, type, params }: Skill) => ({
  id,
  name,
  project_id: 1,
  agent_ids: [],
  type,
  params,
  created_at,
})

const app = express().disable('etag').disable('x-powered-by')
app.use(express.json())
app.get('/ready', (_req, res) => void res.json(''))
app.post('/api/projects/:project/skills', (req, res) => {
  const { skill } = req.body as { skill: Skill }
  const at = new Date().toISOString()
  res.status(201).json(record(insert.get(skill.name, at, JSON.stringify(skill)) as number, at, skill))
})
app.get('/api/projects/:project/skills/:skill', (req, res) => {
  const row = select.get(req.params.skill)
  if (row) res.json(record(row.id, row.created_at, JSON.parse(row.state) as Skill))
  else res.status(404).end()
})
app.listen(Number(process.env['PORT']), '127.0.0.1')
