import type { Command } from '@event-driven-io/emmett'
import { unreachable } from '../../events/common.js'
import type { FileContent, FileEvent } from '../../events/file.js'
import { isProblem, notFound, Problem } from '../basics/errors.js'
import { byExactName, type FactsOf } from '../log/contract/lookups.js'
import { decider } from './rules/decider.js'
import type { RollbackRule } from './rules/rollback.js'

export type FileCommand =
  | Command<'CreateFile', { file: string; content: FileContent; unlessExists?: boolean }>
  /** `base` is the hash of the content from which the new one was made, if it was made from one. */
  | Command<'ReplaceFile', { file: string; base?: string; content: FileContent }>
  | Command<'AppendToFile', { file: string; base: string; content: FileContent }>
  | Command<'DeleteFile', { file: string; ifExists?: boolean }>

// A file is found by its name only, not by an id: names are often numbers, such as a year.
const reads = ({ data }: FileCommand) => ({ file: byExactName('file', data.file) })

const fileExists = (name: string): Problem =>
  new Problem('wrong_arguments', 'File already exists', `File with name '${name}' already exists`, {
    hint: 'Delete it first, or choose another name. PUT /api/files/<name> gives it other rows.',
  })

/** Whether a content was made from an old content of the file. */
export const isStaleBase = (error: unknown): boolean => isProblem(error) && error.title === fileChanged

const fileChanged = 'The file changed'

const changedMeanwhile = (name: string): Problem =>
  new Problem('version_mismatch', fileChanged, `File ${name} was written to by another statement meanwhile`, {
    hint: 'Nothing was written; send the statement again.',
  })

const decide = (command: FileCommand, { file }: FactsOf<ReturnType<typeof reads>>): FileEvent[] => {
  const { data } = command
  switch (command.type) {
    case 'CreateFile':
      if (file && command.data.unlessExists) return []
      if (file) throw fileExists(data.file)
      return [{ type: 'FileCreated', data: { name: data.file, ...command.data.content } }]
    case 'ReplaceFile':
      if (command.data.base !== undefined && file?.state.content !== command.data.base) throw changedMeanwhile(data.file)
      if (!file) return [{ type: 'FileCreated', data: { name: data.file, ...command.data.content } }]
      return [{ type: 'FileReplaced', data: command.data.content }]
    case 'AppendToFile':
      if (!file) throw notFound('file', data.file)
      if (file.state.content !== command.data.base) throw changedMeanwhile(file.state.name)
      return [{ type: 'FileReplaced', data: command.data.content }]
    case 'DeleteFile':
      if (!file && command.data.ifExists) return []
      if (!file) throw new Problem('wrong_arguments', 'Error deleting file', `there is no file with name '${data.file}'`)
      return [{ type: 'FileDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

const rollbackRule: RollbackRule<'file'> = {
  events: (now, { name: _, ...content }) => (now.content === content.content ? [] : [{ type: 'FileReplaced', data: content }]),
}

/** Decides the commands of files. */
export const fileDecider = decider('file', {
  commands: { CreateFile: true, ReplaceFile: true, AppendToFile: true, DeleteFile: true },
  secrets: [],
  rollback: rollbackRule,
  reads,
  decide,
})
