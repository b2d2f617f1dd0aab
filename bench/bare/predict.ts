import Database from 'better-sqlite3'
import express from 'express'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerRows, type InputRow } from '../../src/models/serving/predict-rows.js'
import { loadPredictor } from '../../src/models/engines/tabular/predictor.js'

// The minimum that makes the same prediction and durably stores as many bytes before it answers: no encryption, no checks, no log.
const db = new Database(join(process.env['DATA_DIR'] ?? '.', 'bare.sqlite'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`CREATE TABLE events (position INTEGER PRIMARY KEY, text TEXT NOT NULL, chain BLOB NOT NULL) STRICT;
  CREATE TABLE payloads (hash TEXT PRIMARY KEY, wrapped BLOB, body BLOB NOT NULL) STRICT, WITHOUT ROWID`)
const insertEvent = db.prepare('INSERT INTO events (text, chain) VALUES (?, ?)')
const insertPayload = db.prepare('INSERT INTO payloads VALUES (?, ?, ?)')
const predictor = loadPredictor(readFileSync(process.env['ARTEFACT'] ?? ''))
const chain = Buffer.alloc(32)
const wrapped = Buffer.alloc(60)
const model = '01a1fdcb-e12f-7333-ac0d-5c0fc5e70fae'
const ids = { stream: `${model}/predictions`, request: null, correlation: null, causation: null }
const fixed = { ...ids, version: 1, type: 'PredictionsServed', schema: 1, actor: 'anonymous', source: 'rest' }
let queue: { rows: object[]; done: () => void }[] = []

const commit = () => {
  const batch = queue
  queue = []
  const hash = randomBytes(32).toString('hex')
  const requests = batch.map(({ rows }) => ({ request: model, rows: rows.length }))
  const data = { model, version: 1, rows: batch.length, requests, payload: hash, statement: null, read_at: 1 }
  const text = JSON.stringify({ position: 1, ...fixed, recorded_at: new Date().toISOString(), data })
  db.exec('BEGIN IMMEDIATE')
  insertEvent.run(text, chain)
  insertPayload.run(hash, wrapped, Buffer.from(JSON.stringify(batch.flatMap(({ rows }) => rows))))
  db.exec('COMMIT')
  for (const { done } of batch) done()
}

const app = express().disable('etag').disable('x-powered-by')
app.use(express.json())
app.get('/ready', (_req, res) => void res.json(''))
app.post('/api/projects/:project/models/:model/predict', async (req, res) => {
  const rows = req.body as InputRow[]
  const answers = await answerRows(predictor, rows)
  const target = predictor.target.name
  const kept = answers.map((a, row) => ({
    request: model,
    row,
    input: rows[row],
    output: { value: a[target], confidence: a[`${target}_confidence`], min: a[`${target}_min`], max: a[`${target}_max`] },
  }))
  if (queue.length === 0) setImmediate(commit)
  queue.push({ rows: kept, done: () => res.json(answers) })
})
app.listen(Number(process.env['PORT']), '127.0.0.1')
