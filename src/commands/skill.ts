import type { Command } from '@event-driven-io/emmett'
import { unreachable, type JsonObject } from '../../events/common.js'
import type { SkillEvent } from '../../events/skill.js'
import { conflict, missingField, notFound } from '../basics/errors.js'
import { byName, byExactName, type FactsOf, type Resource } from '../log/contract/lookups.js'
import { refuseUnfitNames } from '../catalogue/grants.js'
import { mergeParams, newParams } from './rules/params.js'
import { decider } from './rules/decider.js'
import { updatedTo } from './rules/rollback.js'

type Target = { project: string; skill: string }
type Changes = { name?: string; type?: string; params?: JsonObject }
export type SkillCommand =
  | Command<'CreateSkill', Target & { type: string; params: JsonObject; unlessExists?: boolean }>
  | Command<'UpdateSkill', Target & Changes>
  | Command<'PutSkill', Target & Changes>
  | Command<'DeleteSkill', Target & { ifExists?: boolean }>

/** The lookups for a command, made in the transaction that stores its events. */
const reads = ({ type, data }: SkillCommand) => ({
  project: byName('project', data.project),
  skill: (type === 'CreateSkill' ? byExactName : byName)('skill', data.skill, data.project),
  clash: byExactName('skill', 'name' in data ? data.name : data.skill, data.project),
})

/** Decides the events. Pure: the same facts give the same events. @throws Problem that the caller can act on */
const decide = (command: SkillCommand, { project, skill, clash }: FactsOf<ReturnType<typeof reads>>): SkillEvent[] => {
  const { data } = command
  if (!project) throw notFound('project', data.project)
  switch (command.type) {
    case 'CreateSkill': {
      if (skill && command.data.unlessExists) return []
      if (skill) throw conflict('skill', data.skill)
      const { type, params } = command.data
      return [created(project, data.skill, type, params)]
    }
    case 'PutSkill': {
      const { type, params } = command.data
      if (skill) return update(skill, command.data, clash)
      if (type === undefined) throw missingField('type', 'skill')
      if (params === undefined) throw missingField('params', 'skill')
      return [created(project, data.skill, type, params)]
    }
    case 'UpdateSkill':
      if (!skill) throw notFound('skill', data.skill)
      return update(skill, command.data, clash)
    case 'DeleteSkill':
      if (!skill && command.data.ifExists) return []
      if (!skill) throw notFound('skill', data.skill)
      return [{ type: 'SkillDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

const created = (project: Resource<'project'>, name: string, type: string, given: JsonObject): SkillEvent => {
  const params = newParams(given)
  refuseUnfitNames({ type, params })
  return { type: 'SkillCreated', data: { project: project.stream, name, type, params } }
}

const update = (
  skill: Resource<'skill'>,
  { name = skill.state.name, type, params }: Changes,
  clash: Resource<'skill'> | undefined,
): SkillEvent[] => {
  if (clash && clash.stream !== skill.stream) throw conflict('skill', name)
  const events: SkillEvent[] = []
  if (type !== undefined || params) {
    const changes = { ...(type !== undefined && { type }), ...(params && { params: mergeParams(skill.state.params, params) }) }
    refuseUnfitNames({ ...skill.state, ...changes })
    events.push({ type: 'SkillUpdated', data: changes })
  }
  if (name !== skill.state.name) events.push({ type: 'SkillRenamed', data: { name } })
  return events
}

/** Decides the commands of skills. */
export const skillDecider = decider('skill', {
  commands: { CreateSkill: true, UpdateSkill: true, PutSkill: true, DeleteSkill: true },
  secrets: ['params'],
  rollback: { events: updatedTo('SkillUpdated', ['type', 'params'], 'SkillRenamed') },
  reads,
  decide,
})
