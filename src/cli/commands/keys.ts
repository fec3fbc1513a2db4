import { UsageError } from '../../lib/errors.js'
import { didYouMean } from '../../lib/suggestion.js'
import { type ApiKey, createApiKeyTable, openForKeys } from '../../store/apiKeys.js'
import type { Database } from '../../store/database.js'
import { openForReading } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'
import { formatTable } from '../table.js'

/** `cairn keys create NAME | list | revoke NAME|ID`. Only `create` makes a database where there is none. */
export async function runKeys({ config, operands }: ParsedArgs): Promise<number> {
  const { datadir, json } = config
  const { action, operand } = parseAction(operands)
  if (action === 'revoke') openForReading(datadir).close() // where there is no database, `openForKeys` would make one
  const db = action === 'list' ? openForReading(datadir) : openForKeys(datadir)
  try {
    process.stdout.write(`${act(db, action, operand, json)}\n`)
  } finally {
    db.close()
  }
  return 0
}

const ACTIONS = ['create', 'list', 'revoke'] as const
type Action = (typeof ACTIONS)[number]

/** Parses the operands. @throws UsageError unless they are an action with its operand. */
function parseAction([word, operand, ...rest]: readonly string[]): { action: Action; operand: string } {
  const action = ACTIONS.find((candidate) => candidate === word)
  if (action === undefined) {
    const unknown = word === undefined ? '' : `, got '${word}'${didYouMean(word, ACTIONS)}`
    throw new UsageError(`expected 'create NAME', 'list' or 'revoke NAME|ID'${unknown}; see 'cairn help keys'`)
  }
  const surplus = action === 'list' ? operand : rest[0]
  if (surplus !== undefined) throw new UsageError(`unexpected operand '${surplus}'; see 'cairn help keys'`)
  if (action === 'list') return { action, operand: '' }
  if (operand === undefined) {
    const expected = action === 'create' ? 'a name for the key' : 'the name or id of a key'
    throw new UsageError(`keys ${action}: expected ${expected}; see 'cairn help keys'`)
  }
  if (action === 'create') checkName(operand)
  return { action, operand }
}

const MAX_NAME_CHARACTERS = 100

function checkName(name: string): void {
  if (name.trim() !== '' && name.length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(name)) return
  const got = JSON.stringify(name.slice(0, MAX_NAME_CHARACTERS))
  throw new UsageError(`keys create: expected a name of 1 to ${MAX_NAME_CHARACTERS} printable characters, got ${got}`)
}

function act(db: Database, action: Action, operand: string, json: boolean): string {
  if (action === 'create') return create(db, operand, json)
  return action === 'list' ? list(db, json) : revoke(db, operand, json)
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
  return formatTable([['ID', 'NAME', 'CREATED', 'REVOKED'], ...keys.map(describeKey)])
}

function describeKey({ id, name, createdAt, revokedAt }: ApiKey): string[] {
  return [String(id), name, formatTime(createdAt), revokedAt === undefined ? '-' : formatTime(revokedAt)]
}

/** To the second, in UTC. */
function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}

function revoke(db: Database, operand: string, json: boolean): string {
  const table = createApiKeyTable(db)
  const { id, name } = requireKey(table.list(), operand)
  table.revoke(id)
  return json ? JSON.stringify({ id, name, revoked: true }) : `key ${id} (${name}) is revoked`
}

/** The live key with this id, else with this name. @throws UsageError if there is none or several. */
function requireKey(keys: readonly ApiKey[], operand: string): ApiKey {
  const live = keys.filter(({ revokedAt }) => revokedAt === undefined)
  const byId = live.find(({ id }) => String(id) === operand)
  if (byId) return byId
  const named = live.filter(({ name }) => name === operand)
  if (named.length === 1) return named[0]
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(`${named.length} keys are named '${operand}': ids ${ids}; name one by its id`)
  }
  const revoked = keys.find(({ id, name }) => String(id) === operand || name === operand)
  if (revoked) throw new UsageError(`key ${revoked.id} (${revoked.name}) is revoked already`)
  const names = live.map(({ name }) => name)
  throw new UsageError(`no key with id or name '${operand}'${didYouMean(operand, names)}; see 'cairn keys list'`)
}
