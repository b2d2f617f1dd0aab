import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from '@jest/globals'
import { repository } from '../support/cli.js'

const rooms = createRequire(import.meta.url)(join(repository, '.ci/rooms.cjs')) as string[]

type SourceFile = { name: string; text: string }

/** The files of a room, without those of the rooms in it. */
const filesOf = (room: string): SourceFile[] =>
  readdirSync(join(repository, 'src', room))
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(repository, 'src', room, name), 'utf8') }))

/** What a file says of its room, in one line; undefined when it does not begin with that. */
const lineOf = ({ text }: SourceFile): string | undefined =>
  /^(?:#!.*\n)?\/\*\*\s(?:\s\*\s)?(Room: .*?)\s*\*\//s.exec(text)?.[1]?.replace(/\n \* /g, ' ')

const form = /^Room: .+?\. It imports (?:(?<none>no other room)|(?<any>any room above it)|only (?<names>.+))\.$/

/** The rooms that a line names; undefined when it is any room above. `src` is the composition. */
const namesIn = (line: string): string[] | undefined => {
  const { any, names } = form.exec(line)?.groups ?? {}
  return any === undefined ? (names?.split(/, | and /) ?? []) : undefined
}

/** The rooms, and `events` or `projections`, that the files of a room import. */
const importsOf = (room: string): string[] => {
  const folder = join('src', room)
  const imported = filesOf(room).flatMap(({ text }) =>
    [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g)].map(([, path = '']) => dirname(normalize(join(folder, path)))),
  )
  const others = [...new Set(imported)].filter((one) => one !== normalize(folder))
  return others.map((one) => /^(?:events|projections)\b/.exec(one)?.[0] ?? one.replace(/^src\//, ''))
}

const isIn = (room: string, name: string): boolean => room === name || (name !== 'src' && room.startsWith(`${name}/`))

const furnished = rooms.filter((room) => filesOf(room).length > 0)

test('each room has one file that begins with the line of the room', () => {
  const lines = furnished.map((room) => [room, filesOf(room).filter((file) => lineOf(file) !== undefined).length])
  expect(lines.filter(([, count]) => count !== 1)).toEqual([])
})

test('each line says what the room is for and what it imports', () => {
  const lines = furnished.flatMap((room) => filesOf(room).flatMap((file) => lineOf(file) ?? []))
  expect(lines.filter((line) => !form.test(line))).toEqual([])
})

test('a room imports what its line names, and nothing else', () => {
  const wrong = furnished.flatMap((room) => {
    const names = namesIn(filesOf(room).flatMap((file) => lineOf(file) ?? [])[0] ?? '')
    if (names === undefined) return []
    const imported = importsOf(room)
    return [
      ...imported.filter((one) => !names.some((name) => isIn(one, name))).map((one) => `${room} imports ${one}: name it in the line`),
      ...names.filter((name) => !imported.some((one) => isIn(one, name))).map((name) => `${room} does not import ${name}: leave it out`),
    ]
  })
  expect(wrong).toEqual([])
})
