import type { Command } from '@event-driven-io/emmett'
import { unreachable } from '../../events/common.js'
import type { FileContent, FileEvent } from '../../events/file.js'
import { Problem } from '../errors.js'
import { called, type FactsOf } from '../log/lookups.js'

export type FileCommand =
  | Command<'CreateFile', { file: string; content: FileContent }>
  | Command<'ReplaceFile', { file: string; content: FileContent }>
  | Command<'DeleteFile', { file: string; ifExists?: boolean }>

// A file is known by its name alone, which is often a year.
export const reads = ({ data }: FileCommand) => ({ file: called('file', data.file) })

export const fileExists = (name: string): Problem =>
  new Problem('wrong_arguments', 'File already exists', `File with name '${name}' already exists`, {
    hint: 'Delete it first, or choose another name.',
  })

export const decide = (command: FileCommand, { file }: FactsOf<ReturnType<typeof reads>>): FileEvent[] => {
  const { data } = command
  switch (command.type) {
    case 'CreateFile':
      if (file) throw fileExists(data.file)
      return [{ type: 'FileCreated', data: { name: data.file, ...command.data.content } }]
    case 'ReplaceFile':
      if (!file) return [{ type: 'FileCreated', data: { name: data.file, ...command.data.content } }]
      return [{ type: 'FileReplaced', data: command.data.content }]
    case 'DeleteFile':
      if (!file && command.data.ifExists) return []
      if (!file) throw new Problem('wrong_arguments', 'Error deleting file', `there is no file with name '${data.file}'`)
      return [{ type: 'FileDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}
