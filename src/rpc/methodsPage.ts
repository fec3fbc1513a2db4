import type { JsonSchema, Method } from './core/method.js'
import { ALL_METHODS } from './methods.js'

/** The reference page of all methods, docs/methods.md, in Markdown. */
export function formatMethodsPage(methods: readonly Method[] = ALL_METHODS): string {
  return `${[
    '# Methods',
    '',
    'Generated from the method definitions by `npm run docs`; do not edit. `rpc_discover` returns the same as an OpenRPC',
    'document. Parameters are accepted by position or by name.',
    '',
    'Cost: `point` methods run on the main thread, `scan` and `evm` methods in reader threads under a deadline.',
    '',
    'Methods that read the Ethereum chain return -32000, with a hint how to import, while the database has no Ethereum',
    'block. Block numbers and indexes of 2^53 and above are treated as unknown.',
    '',
    '| method | cost | |',
    '|---|---|---|',
    ...methods.map(({ name, cost, summary }) => `| [\`${name}\`](#${name.toLowerCase()}) | ${cost} | ${summary} |`),
    '',
    ...methods.flatMap(formatMethod),
  ].join('\n')}`
}

function formatMethod(method: Method): string[] {
  const params = method.params.map(
    ({ name, required, schema, summary }, i) =>
      `| ${i} | \`${name}\` | ${nameSchema(schema)} | ${required ? 'yes' : 'no'} | ${summary} |`,
  )
  const errors = method.errors.map(({ code, message }) => `| ${code} | ${message} |`)
  return [
    `## ${method.name}`,
    '',
    method.summary,
    '',
    ...(method.description === undefined ? [] : [method.description, '']),
    ...(params.length === 0
      ? ['No parameters.']
      : ['| # | parameter | type | required | |', '|---|---|---|---|---|', ...params]),
    '',
    `Result: \`${method.result.name}\`, ${nameSchema(method.result.schema)}.`,
    '',
    ...(errors.length === 0 ? [] : ['| error | message |', '|---|---|', ...errors, '']),
  ]
}

/** A short name of a schema. */
function nameSchema(schema: JsonSchema): string {
  const { title, type, items, oneOf, anyOf, enum: values } = schema
  if (typeof title === 'string') return title
  const choices = oneOf ?? anyOf
  if (Array.isArray(choices)) return choices.map((choice) => nameSchema(choice as JsonSchema)).join(' or ')
  if (type === 'array' && items !== undefined) return `array of ${nameSchema(items as JsonSchema)}`
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(', ')
  return Array.isArray(type) ? type.join(' or ') : String(type ?? 'any')
}
