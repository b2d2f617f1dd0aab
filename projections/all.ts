import { erasures } from './erasures.js'
import { events } from './events.js'
import { jobRuns } from './job-runs.js'
import { models, modelVersions } from './models.js'
import { outcomes } from './outcomes.js'
import { predictions } from './predictions.js'
import type { Projection } from './projection.js'
import { agents, chatbots, configs, databases, engines, files, jobs, projects, skills, views } from './resources.js'

/** Every projection there is, in the order they are applied. */
export const projections: readonly Projection[] = [
  events,
  projects,
  skills,
  agents,
  chatbots,
  databases,
  views,
  files,
  configs,
  engines,
  models,
  modelVersions,
  predictions,
  outcomes,
  erasures,
  jobs,
  jobRuns,
]
