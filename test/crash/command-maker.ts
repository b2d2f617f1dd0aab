import type { Random } from '../../src/models/numerics/random.js'

/** A command as it is sent, and the events that are to come of it. */
export type SentCommand = {
  key: string
  method: string
  path: string
  body?: unknown
  /** A table's text, sent as a form. */
  upload?: string
  events: string[]
}
type Made = Omit<SentCommand, 'key'>
/** A skill that is there, and what its newest event changed, which can be taken back. */
type Skill = { name: string; version: number; change?: { type: 'SkillUpdated' } | { type: 'SkillRenamed'; from: string } }

const project = '/api/projects/mindsdb'

/** Makes commands of all kinds, each possible after those before it, about things that nobody else writes. */
export class CommandMaker {
  readonly #skills: Skill[] = []
  readonly #files: string[] = []
  #made = 0

  constructor(
    private readonly name: string,
    private readonly random: Random,
  ) {}

  next(key: string): SentCommand {
    const kinds: (() => Made)[] = [
      () => this.#createSkill(),
      () => this.#createBySql(),
      () => this.#createOther(),
      () => this.#upload(),
      () => this.#predict(),
      ...(this.#skills.length > 0
        ? [
            () => this.#change(),
            () => this.#idle(),
            () => this.#rename(),
            () => this.#rollBack(),
            () => this.#remove(),
            () => this.#removeBySql(),
          ]
        : []),
      ...(this.#files.length > 0 ? [() => this.#insert(), () => this.#removeFile()] : []),
    ]
    return { key, ...this.#one(kinds)() }
  }

  #one<T>(of: readonly T[]): T {
    return of[this.random.below(of.length)] as T
  }

  #newName(): string {
    return `${this.name}_${(this.#made += 1)}`
  }

  #takeSkill(): Skill {
    const [taken] = this.#skills.splice(this.random.below(this.#skills.length), 1)
    if (!taken) throw new Error('there is no skill')
    return taken
  }

  #createSkill(): Made {
    const name = this.#newName()
    this.#skills.push({ name, version: 1 })
    const skill = { name, type: 'sql', params: { made: this.#made, api_key: `sk-${name}` } }
    return { method: 'POST', path: `${project}/skills`, body: { skill }, events: ['SkillCreated'] }
  }

  #createBySql(): Made {
    const name = this.#newName()
    this.#skills.push({ name, version: 1 })
    return { method: 'POST', path: '/api/sql/query', body: { query: `CREATE SKILL ${name} USING type = 'sql'` }, events: ['SkillCreated'] }
  }

  #createOther(): Made {
    const name = this.#newName()
    return this.#one<Made>([
      { method: 'POST', path: `${project}/agents`, body: { agent: { name, model_name: 'm' } }, events: ['AgentCreated'] },
      { method: 'PUT', path: `${project}/views/${name}`, body: { view: { query: 'SELECT 1 AS one' } }, events: ['ViewCreated'] },
      {
        method: 'POST',
        path: '/api/databases',
        body: { database: { name, engine: 'slack', parameters: {} } },
        events: ['DatabaseCreated'],
      },
      { method: 'POST', path: '/api/projects', body: { project: { name } }, events: ['ProjectCreated'] },
      {
        method: 'POST',
        path: `${project}/jobs`,
        body: { job: { name, query: 'SELECT 1', start_at: '2999-01-01' } },
        events: ['JobCreated'],
      },
    ])
  }

  #change(): Made {
    const skill = this.#one(this.#skills)
    skill.version += 1
    skill.change = { type: 'SkillUpdated' }
    const params = { last: this.random.next() }
    return { method: 'PUT', path: `${project}/skills/${skill.name}`, body: { skill: { params } }, events: ['SkillUpdated'] }
  }

  #idle(): Made {
    return { method: 'PUT', path: `${project}/skills/${this.#one(this.#skills).name}`, body: { skill: {} }, events: [] }
  }

  #rename(): Made {
    const skill = this.#one(this.#skills)
    const path = `${project}/skills/${skill.name}`
    skill.change = { type: 'SkillRenamed', from: skill.name }
    skill.name = this.#newName()
    skill.version += 1
    return { method: 'PUT', path, body: { skill: { name: skill.name } }, events: ['SkillRenamed'] }
  }

  /** To what it was before its newest event. */
  #rollBack(): Made {
    const skill = this.#one(this.#skills)
    const { name, version, change } = skill
    if (!change) return this.#change()
    skill.version += 1
    if (change.type === 'SkillRenamed') {
      skill.name = change.from
      skill.change = { type: 'SkillRenamed', from: name }
    }
    return { method: 'POST', path: `${project}/skills/${name}/rollback`, body: { version: version - 1 }, events: [change.type] }
  }

  #remove(): Made {
    return { method: 'DELETE', path: `${project}/skills/${this.#takeSkill().name}`, events: ['SkillDeleted'] }
  }

  #removeBySql(): Made {
    return { method: 'POST', path: '/api/sql/query', body: { query: `DROP SKILL ${this.#takeSkill().name}` }, events: ['SkillDeleted'] }
  }

  #upload(): Made {
    const name = this.#newName()
    this.#files.push(name)
    return { method: 'PUT', path: `/api/files/${name}`, upload: `a,b\n${this.#made},x\n`, events: ['FileCreated'] }
  }

  #insert(): Made {
    const query = `INSERT INTO files.${this.#one(this.#files)} SELECT ${this.#made}, 'y'`
    return { method: 'POST', path: '/api/sql/query', body: { query }, events: ['FileReplaced'] }
  }

  #removeFile(): Made {
    const [name = ''] = this.#files.splice(0, 1)
    return { method: 'DELETE', path: `/api/files/${name}`, events: ['FileDeleted'] }
  }

  #predict(): Made {
    const body = [{ sqft: this.random.below(1_000), location: 'good' }]
    return { method: 'POST', path: `${project}/models/rent/predict`, body, events: ['PredictionsServed'] }
  }
}
