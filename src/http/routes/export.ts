import * as z from 'zod'
import type { Heads } from '../../audit/heads.js'
import { verifierFile } from '../../audit/verifier-file.js'
import { notFound, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { exportLines, projectCalled, type ExportSource } from '../../log/feed/export.js'
import type { Log } from '../../log/contract/log.js'
import type { LoopTurns } from '../../basics/long-work.js'
import type { Downloads } from '../reads/event-answers.js'
import { value, whole } from '../protocol/parameters.js'
import { stream, text } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

const exportType = 'application/jsonl'

/**
 * The source of an export over HTTP. An export may scan the whole log, so it reads in slices, each as a separate piece of work: other
 * requests wait for one slice at most.
 *
 * @example const source = exportSource(log, heads, feed.slices.turns)
 */
export const exportSource = (log: Log, heads: Heads, turns: LoopTurns): ExportSource => ({
  logId: log.id,
  read: async (after, limit) => {
    await turns.take()
    return log.readAll(after, limit, limits.eventSliceMaxChars)
  },
  first: async (stream) => (await log.readStream(stream, 0, 1))[0],
  subtrees: (from, to) => log.subtrees(from, to),
  leaves: (from, to) => log.leaves(from, to),
  checkpoint: (size) => heads.at(size),
  key: heads.vkey,
})

/** The routes for auditors: the events with their proof, and the program that verifies them. */
export const exportRoutes = (log: Log, heads: Heads, turns: LoopTurns, downloads: Downloads): Route[] => [
  route({
    method: 'get',
    path: '/log/export',
    summary: 'The events up to a position with their proof, of all or of one project, as JSON lines for the offline verifier',
    query: {
      project: value(z.string().optional().describe('the events of the project that was last called so, also of one that is gone')),
      until: whole(z.int().min(0).optional().describe('the position of the last event; the newest without it')),
      split: whole(
        z.int().min(0).optional().describe('the size of a head kept elsewhere, with which an export of a project can then be compared'),
      ),
    },
    gives: [exportType],
    answers: { 200: null },
    async handle({ query: { project: name, until, split }, call }) {
      const head = (await log.head()).position
      const size = until ?? head
      if (size > head) throw wrong(`until must be at most ${head}, the newest position`)
      const source = exportSource(log, heads, turns)
      const project = name === undefined ? undefined : await projectCalled(source.read, name, size)
      if (name !== undefined && !project) throw notFound('project', name)
      const splits = split === undefined ? [] : [split]
      const lines = exportLines(source, { size, ...(project && { project }), splits })
      return stream(exportType, { pieces: downloads.of(call, lines) })
    },
  }),
  route({
    method: 'get',
    path: '/log/verifier',
    summary: 'The offline verifier: one file without dependencies, run as node verifier.mjs export.jsonl',
    gives: ['text/javascript'],
    answers: { 200: null },
    async handle() {
      return text('text/javascript', verifierFile(), { headers: { 'Content-Disposition': 'attachment; filename=verifier.mjs' } })
    },
  }),
]
