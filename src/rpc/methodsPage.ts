import type { ErrorDoc, JsonSchema, Method } from './core/method.js'
import { type MethodExamples, type RecordedCall, readExamples, sentParams, WITHOUT_EXAMPLE } from './examples.js'
import { ALL_METHODS } from './methods.js'
import { describeMembers } from './strictMembers.js'

/** The reference page of all methods, docs/methods.md, in Markdown. */
export function formatMethodsPage(methods: readonly Method[] = ALL_METHODS): string {
  return `${[
    '# Methods',
    '',
    'Generated from the method definitions and recorded examples by `npm run record:rpc`; do not edit. `rpc_discover`',
    'returns the same as an OpenRPC document. Parameters are accepted by position or by name.',
    '',
    'Cost: `point` methods run on the main thread, `scan` and `evm` methods in reader threads under a deadline.',
    '',
    'Examples are requests to `cairn serve --fixture fixtures/chain` with its answers. A request for an error is one to the',
    'same server, or to one that is started with the options named beside it, or to one of these:',
    '',
    '- `partial` followed an upstream with `--state none --from 40`: it holds no older block, no state and no layer-2 block.',
    '- `filling` follows an upstream that stopped answering before block 41: blocks are still to be fetched.',
    '- `forwarding` was started with `--upstream URL --forward-transactions`.',
    '',
    '`$1` is the result of the call before.',
    '',
    'Any method returns -32602 for parameters that are missing, unknown, too many or malformed, and -32603 for an internal',
    'error. Members of objects are read in any letter case; where a method lists the members, others are refused with -32602,',
    'elsewhere they are ignored. Methods that read the Ethereum chain return -32000, with a hint how to import, while the database has no',
    'Ethereum block. Block numbers and indexes of 2^53 and above are treated as unknown.',
    '',
    '| method | cost | |',
    '|---|---|---|',
    ...methods.map(({ name, cost, summary }) => `| [\`${name}\`](#${name.toLowerCase()}) | ${cost} | ${summary} |`),
    '',
    ...methods.flatMap((method) => formatMethod(method, readExamples()[method.name] ?? { errors: [] })),
  ].join('\n')}`
}

function formatMethod(method: Method, examples: MethodExamples): string[] {
  const params = method.params.map(
    ({ name, required, schema, summary }, i) =>
      `| ${i} | \`${name}\` | ${nameSchema(schema)} | ${required ? 'yes' : 'no'} | ${summary} |`,
  )
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
    ...method.params.flatMap(describeMembers).flatMap((sentence) => [sentence, '']),
    `Result: \`${method.result.name}\`, ${nameSchema(method.result.schema)}.`,
    '',
    ...formatExample(method, examples),
    ...formatErrors(method, examples),
  ]
}

function formatExample({ name }: Method, { example }: MethodExamples): string[] {
  if (example === undefined) {
    const reason = WITHOUT_EXAMPLE[name]
    return reason === undefined ? [] : [reason, '']
  }
  const calls = [...(example.before ?? []), { method: name, params: sentParams(example), result: example.result }]
  const notes = [
    ...(example.transport === 'websocket' ? ['over a WebSocket'] : []),
    ...(example.on === undefined ? [] : [`on \`${example.on}\``]),
    ...(example.varies ? ['the result is another one each time'] : []),
  ]
  return [
    `Example${notes.length === 0 ? '' : ` (${notes.join(', ')})`}:`,
    '',
    '```json',
    ...calls.flatMap(({ method, params, result }) => [formatJson({ method, params }), formatJson({ result })]),
    '```',
    '',
  ]
}

// Longer JSON is broken into lines.
const LINE = 120

function formatJson(value: object): string {
  const line = JSON.stringify(value)
  return line.length <= LINE ? line : JSON.stringify(value, null, 2)
}

function formatErrors({ errors, name }: Method, examples: MethodExamples): string[] {
  if (errors.length === 0) return []
  const rows = errors.map((documented) => {
    const { code, message } = documented
    return `| ${code} | ${escapeCell(message)} | ${formatOccurrence(name, documented, examples)} |`
  })
  return ['| error | message | for example |', '|---|---|---|', ...rows, '']
}

function formatOccurrence(name: string, { code, message, when }: ErrorDoc, { errors }: MethodExamples): string {
  const found = errors.find((error) => error.code === code && error.message === message)
  if (found === undefined) return when === undefined ? '' : `when ${when}`
  const before = found.before?.map((call) => formatCall(call.method, call.params)) ?? []
  const conditions = [
    ...(found.transport === 'http' ? ['over HTTP'] : []),
    ...(found.on === undefined ? [] : [`with \`${found.on}\``]),
  ]
  return [[...before, formatCall(name, requestParams(found))].join(', then '), ...conditions].join(' ')
}

function requestParams({ params }: RecordedCall): unknown {
  return params ?? []
}

function formatCall(method: string, params: unknown): string {
  return `\`${method} ${escapeCell(JSON.stringify(params))}\``
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
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
