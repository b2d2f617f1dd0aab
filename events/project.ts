import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { nothing, resourceName, unreachable, type SchemasOf } from './common.js'
import type { ResourceKind } from './kind.js'

/** A project has a name, and contains skills, agents, chatbots, models and views. */
export type Project = { name: string }

export type ProjectEvent =
  Event<'ProjectCreated', Project> | Event<'ProjectRenamed', { name: string }> | Event<'ProjectDeleted', Record<string, never>>

const schemas: SchemasOf<ProjectEvent> = {
  ProjectCreated: z.strictObject({ name: resourceName }).describe('A project was created.'),
  ProjectRenamed: z.strictObject({ name: resourceName }).describe('A project got another name.'),
  ProjectDeleted: nothing.describe('An empty project was deleted.'),
}

const evolve = (project: Project | undefined, event: ProjectEvent): Project | undefined => {
  switch (event.type) {
    case 'ProjectCreated':
      return event.data
    case 'ProjectRenamed':
      return project && { ...project, ...event.data }
    case 'ProjectDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const projectKind: ResourceKind<Project, ProjectEvent> = {
  plural: 'projects',
  inProject: false,
  schemas,
  evolve,
}
