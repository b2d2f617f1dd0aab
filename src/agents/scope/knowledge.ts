import type { AnyResource, Resource, Resources } from '../../log/contract/log.js'
import type { SearchKnowledge } from '../../knowledge/contract/search.js'

/** A knowledge base as an agent sees it: its name and its description. */
export type NamedBase = { base: Pick<AnyResource, 'stream' | 'version'>; name: string; about?: string }

/** The knowledge bases of agents. */
export type Knowledge = {
  /** The knowledge bases of a project, at a position of the log, whose names match a name or a pattern. */
  basesOf: (resources: Resources, project: Resource<'project'>, name: string) => Promise<NamedBase[]>
  search: SearchKnowledge
}
