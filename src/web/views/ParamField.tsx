import { Prose } from '../ui/Prose.js'

/** A parameter in the OpenRPC document. */
export interface ParamDoc {
  name: string
  summary: string
  required: boolean
  schema: {
    type?: string | string[]
    title?: string
    enum?: unknown[]
    minimum?: number
    maximum?: number
    oneOf?: ParamDoc['schema'][]
  }
}

/** The field of a parameter, by its schema. */
export function ParamField({
  param,
  text,
  onChange,
}: {
  param: ParamDoc
  text: string
  onChange: (text: string) => void
}) {
  const id = `param-${param.name}`
  const { schema } = param
  return (
    <div class="field">
      <label for={id}>
        {param.name}{' '}
        <span class="quiet">{[describeType(schema), param.required ? '' : 'optional'].filter(Boolean).join(', ')}</span>
      </label>
      {schema.type === 'boolean' ? (
        <select
          id={id}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          aria-describedby={`${id}-note`}
        >
          <option value="">not given</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : isStructured(schema) ? (
        <textarea
          id={id}
          rows={Math.min(12, Math.max(2, text.split('\n').length))}
          value={text}
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
          aria-describedby={`${id}-note`}
        />
      ) : (
        <input
          id={id}
          value={text}
          inputMode={schema.type === 'integer' ? 'numeric' : undefined}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => onChange(event.currentTarget.value)}
          aria-describedby={`${id}-note`}
        />
      )}
      <p class="quiet" id={`${id}-note`}>
        <Prose markdown={param.summary} />
      </p>
    </div>
  )
}

/** Parses the value of a field: JSON of a matching kind, else text; undefined for an empty field.
 *  @throws Error that names the parameter */
export function parseParam({ name, required, schema }: ParamDoc, text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') {
    if (required) throw new Error(`${name} is needed`)
    return undefined
  }
  const isJson =
    /^[[{"]/.test(trimmed) || schema.type === 'boolean' || schema.type === 'integer' || schema.type === 'number'
  if (!isJson) return trimmed
  try {
    return JSON.parse(trimmed)
  } catch {
    throw new Error(`${name} is not valid JSON`)
  }
}

function isStructured({ type, oneOf = [] }: ParamDoc['schema']): boolean {
  return type === 'object' || type === 'array' || (type === undefined && oneOf.every(isStructured))
}

function describeType({ title, type, oneOf }: ParamDoc['schema']): string {
  if (title !== undefined) return title
  if (type !== undefined) return [type].flat().join(' or ')
  return oneOf === undefined ? '' : [...new Set(oneOf.map(describeType))].filter(Boolean).join(' or ')
}
