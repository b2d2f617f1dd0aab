import { catalogue } from '../../src/sql/relations/catalogue.js'
import type { Relation } from '../../src/sql/relations/relation.js'
import { table } from './markdown.js'

const section = (schema: string, { name, about, columns }: Relation): string =>
  [
    `### ${schema}.${name}`,
    '',
    about,
    '',
    table(
      ['Column', 'Type', 'Meaning'],
      columns.map((column) => [`\`${column.name}\``, column.type, column.about]),
    ),
  ].join('\n')

const titles: Record<keyof typeof catalogue, [schema: string, about: string]> = {
  project: ['<project>', 'Every project has these tables. Statements that name no project use the project `mindsdb`.'],
  log: ['log', 'What happened, for all projects.'],
  information_schema: ['information_schema', 'What SQL offers, and the resources of all projects at once.'],
}

/** docs/use/tables.md: what `information_schema.tables` and `.columns` say. */
export const tablesPage = (): string => {
  const schemas = (['project', 'log', 'information_schema'] as const).map((key) => {
    const [schema, about] = titles[key]
    return `## ${schema}\n\n${about}\n\n${catalogue[key].map((relation) => section(schema, relation)).join('\n\n')}`
  })
  return `# Tables

This page has every table and column that SQL offers, with the texts of \`information_schema.tables\` and \`information_schema.columns\`. Your own tables come in addition: \`files.<name>\`, \`<project>.<view>\` and \`<project>.<model>\`. [sql.md](sql.md) has the statements.

${schemas.join('\n\n')}`
}
