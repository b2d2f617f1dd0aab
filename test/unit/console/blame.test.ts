import { expect, test } from '@jest/globals'
import { createPatch } from 'rfc6902'
import { loadModule } from '../../support/console/load-module.js'

type Origin = { at: string[]; but?: string[]; parts?: Record<string, Origin> }
type Changes = { before: unknown; from: number; version: number; changes: { version: number; diff: unknown[] }[] }
type Part = { names: string[]; value: unknown; change: { version: number } | undefined }
type Module = {
  blamed: (changes: Changes) => object
  blameOf: (at: object, origin: Origin) => { version: number } | undefined
  partsOf: (at: object, value: unknown, origin: Origin) => Part[]
}

const { blamed, blameOf, partsOf } = await loadModule<Module>('pages/resources/blame.ts')

/** The changes that lead from the first of some states to the last, as the service tells of them. Version 1 begins with nothing. */
const changesTo = (states: readonly unknown[], from = 0): Changes => {
  const all = states.map((state, i) => ({ version: i + 1, diff: createPatch(states[i - 1] ?? null, state) }))
  return { before: states[from - 1] ?? null, from, version: states.length, changes: all.slice(from) }
}

/** The version behind a value, and behind each part of it; undefined where it is not known. */
const told = (changes: Changes, value: unknown, origin: Origin): [whole: number | undefined, parts: Record<string, number | undefined>] => {
  const at = blamed(changes)
  const parts = partsOf(at, value, origin).map(({ names, change }) => [names.join('.'), change?.version])
  return [blameOf(at, origin)?.version, Object.fromEntries(parts)]
}

/** The same of the whole state. */
const ofStates = (...states: readonly object[]) => told(changesTo(states), states.at(-1), { at: [''] })

test('a part has the change that set it, at any depth', () =>
  expect(ofStates({ a: { b: { c: 1, d: 1 } }, e: 1 }, { a: { b: { c: 1, d: 2 } }, e: 1 }, { a: { b: { c: 1, d: 2 } }, e: 3 })).toEqual([
    3,
    { 'a.b.c': 1, 'a.b.d': 2, e: 3 },
  ]))

test('a value that one change set is not divided', () => {
  expect(ofStates({ a: { b: [1, { c: 2 }] } })).toEqual([1, {}])
  expect(ofStates({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 2] }, c: 2 })).toEqual([2, { a: 1, c: 2 }])
})

test('an entry of a list keeps its change when others come before it, change or go', () => {
  expect(ofStates({ list: ['b'] }, { list: ['a', 'b'] }, { list: ['a', 'b', 'c'] })).toEqual([3, { 'list.0': 2, 'list.1': 1, 'list.2': 3 }])
  expect(ofStates({ list: ['a', 'b', 'c'] }, { list: ['a', 'x', 'c'] }, { list: ['x', 'c'] })).toEqual([3, { 'list.0': 2, 'list.1': 1 }])
  const entries = [
    { name: 'a', n: 1 },
    { name: 'b', n: 1 },
  ] as const
  expect(
    ofStates(
      { list: entries },
      { list: [{ name: 'z', n: 1 }, ...entries] },
      { list: [{ name: 'z', n: 1 }, entries[0], { name: 'b', n: 3 }] },
    ),
  ).toEqual([3, { 'list.0': 2, 'list.1': 1, 'list.2.name': 1, 'list.2.n': 3 }])
})

test('a removal is behind the whole and behind no part that stays; what comes back is new', () => {
  expect(ofStates({ a: { b: 1, c: 1 } }, { a: { b: 1 } })).toEqual([2, { 'a.b': 1 }])
  expect(ofStates({ list: [1, 2, 3] }, { list: [1, 3] })).toEqual([2, { 'list.0': 1, 'list.1': 1 }])
  expect(ofStates({ a: { b: 1, c: 1 } }, { a: { b: 1 } }, { a: { b: 1, c: 1 } })).toEqual([3, { 'a.b': 1, 'a.c': 3 }])
})

test('names with signs of paths are names', () =>
  expect(ofStates({ 'a/b': { '~': 1, x: 1 } }, { 'a/b': { '~': 2, x: 1 } })).toEqual([2, { 'a/b.~': 2, 'a/b.x': 1 }]))

test('of changes before the known ones nothing is said', () =>
  expect(
    told(
      changesTo(
        [
          { a: 1, b: 1 },
          { a: 2, b: 1 },
          { a: 2, b: 3 },
        ],
        2,
      ),
      { a: 2, b: 3 },
      { at: [''] },
    ),
  ).toEqual([3, { a: undefined, b: 3 }]))

test('a value that is not that of the state, or of several places, has no parts', () => {
  const changes = changesTo([
    { agent: 'stream', a: { b: 1, c: 1 } },
    { agent: 'other', a: { b: 1, c: 2 } },
  ])
  expect(told(changes, { name: 'the agent' }, { at: ['/agent'] })).toEqual([2, {}])
  expect(told(changes, { b: 1, c: 3 }, { at: ['/a'] })).toEqual([2, {}])
  expect(told(changes, { b: 1, c: 2 }, { at: ['/agent', '/a'] })).toEqual([2, {}])
  expect(told(changes, { b: 1, c: 2 }, { at: ['/none'] })).toEqual([undefined, {}])
})

test('a member without some of its parts has the changes of the others', () => {
  const changes = changesTo([{ params: { data: 1, x: 1, y: 1 } }, { params: { data: 1, x: 2, y: 1 } }, { params: { data: 3, x: 2, y: 1 } }])
  expect(told(changes, { x: 2, y: 1 }, { at: ['/params'], but: ['/params/data'] })).toEqual([2, { x: 2, y: 1 }])
})

test('the parts of a member that the state has in another form have places of their own', () => {
  const changes = changesTo([{ chunking: { size: 1, overlap: 1 } }, { chunking: { size: 2, overlap: 1 } }])
  const parts = { chunk_size: { at: ['/chunking/size'] }, chunk_overlap: { at: ['/chunking/overlap'] } }
  expect(told(changes, { chunk_size: 2, chunk_overlap: 1 }, { at: ['/chunking'], parts })).toEqual([2, { chunk_size: 2, chunk_overlap: 1 }])
})

test('what each skill of an agent adds is found by the place of the skill, unless the record leaves one out', () => {
  const skill = (name: string, n: number) => ({ skill: name, params: { n, m: 1 } })
  const changes = changesTo([{ skills: [skill('a', 1), skill('b', 1)] }, { skills: [skill('a', 1), skill('b', 2)] }])
  const place = (i: number) => ({ at: [`/skills/${i}/params`] })
  const both = { a: { n: 1, m: 1 }, b: { n: 2, m: 1 } }
  expect(told(changes, both, { at: ['/skills'], parts: { a: place(0), b: place(1) } })).toEqual([2, { a: 1, 'b.n': 2, 'b.m': 1 }])
  expect(told(changes, { b: both.b }, { at: ['/skills'], parts: { b: place(0) } })).toEqual([2, {}])
})

test('a member in a null has the change that set the null', () =>
  expect(
    told(changesTo([{ result: { accuracy: 1 } }, { result: null }, { result: null, x: 1 }]), null, { at: ['/result/accuracy'] }),
  ).toEqual([2, {}]))
