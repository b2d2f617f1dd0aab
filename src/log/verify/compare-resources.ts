import { isDeepStrictEqual } from 'node:util'
import { hasLinks, linksOf, type Kind, type States } from '../../../events/catalogue/catalogue.js'
import { foldName } from '../../../events/common.js'
import { codeFingerprint } from '../../setup/package.js'
import { projectStreamOf } from '../storage/resource-cache.js'
import { readMeta, type LogConnection } from '../storage/schema.js'
import { firstLine, type Findings } from './findings.js'

/** A resource as computed from its events. */
export type FoldedResource = { kind: Kind; id: number; version: number; created_at: string; updated_at: string; state: States[Kind] }

type Row = {
  stream: string
  kind: string
  project: string
  name: string
  id: number
  version: number
  created_at: string
  updated_at: string
  state: string
}

const rowText = `stream || '\t' || kind || '\t' || project || '\t' || name || '\t' || id || '\t' || version || '\t' ||
  created_at || '\t' || updated_at || '\t' || state || '\t' || typeof(id) || typeof(version)`

const textOf = (stream: string, { kind, id, version, created_at, updated_at, state }: FoldedResource): string =>
  `${stream}\t${kind}\t${projectStreamOf(state)}\t${foldName(state.name)}\t${id}\t${version}\t` +
  `${created_at}\t${updated_at}\t${JSON.stringify(state)}\tintegerinteger`

/**
 * Compares `resources` and `links` with the states from the events. Tables that other code built are skipped, because they are rebuilt
 * before use.
 */
export const compareResources = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  try {
    if (readMeta(db, 'resources_built_by') !== codeFingerprint()) return
    compareRows(db, resources, findings)
    compareLinks(db, resources, findings)
  } catch (error) {
    findings.add(null, `resources cannot be read: ${firstLine(error)}`)
  }
}

/**
 * A row is read as one text, with tabs between its columns, which is several times faster than separate columns. Neither names nor JSON can
 * contain a tab, so equal texts mean equal rows. The columns of unequal rows are compared.
 */
const compareRows = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  const texts = db.prepare<[], string | null>(`SELECT ${rowText} FROM resources`).pluck()
  let rows = 0
  let same = 0
  for (const text of texts.iterate()) {
    rows++
    const stream = text?.slice(0, text.indexOf('\t')) ?? ''
    const folded = resources.get(stream)
    if (folded && text === textOf(stream, folded)) same++
  }
  if (rows !== same || same !== resources.size) compareOneByOne(db, resources, findings)
}

const rowOf = (stream: string, { kind, state, ...rest }: FoldedResource): Row => ({
  stream,
  kind,
  project: projectStreamOf(state),
  name: foldName(state.name),
  ...rest,
  state: JSON.stringify(state),
})

const compareOneByOne = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  const seen = new Set<string>()
  for (const row of db.prepare<[], Row>('SELECT * FROM resources').iterate()) {
    seen.add(row.stream)
    const folded = resources.get(row.stream)
    if (!folded) findings.add(null, `resources has a ${row.kind} ${row.name} that no event created`)
    else if (!isDeepStrictEqual({ ...row }, rowOf(row.stream, folded)))
      findings.add(folded.id, `${folded.kind} ${folded.state.name} in resources differs from what its events say`)
  }
  for (const [stream, { id, kind, state }] of resources)
    if (!seen.has(stream)) findings.add(id, `${kind} ${state.name} is missing in resources`)
}

const compareLinks = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  const links = db.prepare<[], { link: string }>(`SELECT source || ' ' || target AS link FROM links`).all()
  const expected = new Set<string>()
  for (const [stream, { kind, state }] of resources)
    if (hasLinks(kind)) for (const target of linksOf(kind, state)) expected.add(`${stream} ${target}`)
  if (links.length !== expected.size || links.some(({ link }) => !expected.has(link)))
    findings.add(null, 'links differ from what the events say')
}
