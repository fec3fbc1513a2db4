import { UsageError } from '../../lib/errors.js'
import { type ApiKey, createApiKeyTable, openForKeys } from '../../store/apiKeys.js'
import type { Database } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'

/** `cairn keys create NAME | list | revoke ID`. */
export async function runKeys({ config, operands }: ParsedArgs): Promise<number> {
  const change = parseAction(operands)
  const db = openForKeys(config.datadir)
  try {
    process.stdout.write(`${change(db, config.json)}\n`)
  } finally {
    db.close()
  }
  return 0
}

/** What the operands ask for: does it and gives the text to print. */
function parseAction(operands: readonly string[]): (db: Database, json: boolean) => string {
  const [action, operand, ...rest] = operands
  if (rest.length > 0) throw new UsageError(`unexpected operand '${rest[0]}'; see 'cairn help keys'`)
  if (action === 'create' && operand !== undefined) return (db, json) => create(db, operand, json)
  if (action === 'list' && operand === undefined) return list
  if (action === 'revoke' && operand !== undefined) {
    const id = /^[1-9]\d{0,14}$/.test(operand) ? Number(operand) : undefined
    if (id === undefined)
      throw new UsageError(`expected the id of a key, as 'cairn keys list' shows it, got '${operand}'`)
    return (db, json) => revoke(db, id, json)
  }
  throw new UsageError("expected 'create NAME', 'list' or 'revoke ID'; see 'cairn help keys'")
}

function create(db: Database, name: string, json: boolean): string {
  const { id, key } = createApiKeyTable(db).create(name)
  if (json) return JSON.stringify({ id, name, key })
  process.stderr.write(`key ${id} (${name}), shown this once:\n`)
  return key
}

function list(db: Database, json: boolean): string {
  const keys = createApiKeyTable(db).list()
  if (json) return JSON.stringify(keys)
  if (keys.length === 0) return "no keys; make one with 'cairn keys create NAME'"
  return ['id\tname\tcreated\trevoked', ...keys.map(formatKey)].join('\n')
}

function formatKey({ id, name, createdAt, revokedAt }: ApiKey): string {
  return [id, name, formatTime(createdAt), revokedAt === undefined ? '-' : formatTime(revokedAt)].join('\t')
}

function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

function revoke(db: Database, id: number, json: boolean): string {
  if (!createApiKeyTable(db).revoke(id)) throw new UsageError(`no live key with id ${id}; see 'cairn keys list'`)
  return json ? JSON.stringify({ id, revoked: true }) : `key ${id} is revoked`
}
