import { UsageError } from '../../lib/errors.js'
import { didYouMean } from '../../lib/suggestion.js'
import type { Method } from '../../rpc/core/method.js'
import { CLASS_NAMES } from '../../rpc/core/methodClasses.js'
import { loadMethods } from '../../rpc/loadMethods.js'
import { partlyExcluded, unknownPatterns } from '../../server/access/methodPatterns.js'
import type { Database } from '../../store/database.js'
import {
  type ApiKey,
  createApiKeyTable,
  type KeyLimits,
  type KeyLimitsChange,
  openForKeys,
} from '../../store/keys/apiKeys.js'
import { exportKeys, importKeys } from '../../store/keys/keyTransfer.js'
import { type DayUsage, type KeyUsage, openUsageForReading } from '../../store/keys/usageTable.js'
import { openAnySchema, openForReading, requireCurrentSchema } from '../../store/open.js'
import type { Config } from '../config.js'
import { isKeyName, MAX_NAME_CHARACTERS, readKeysFile } from '../keysFile.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult, printSecret, printSummary } from '../standardStreams.js'
import { formatTable, formatTime } from '../table.js'
import { writeNotice } from '../terminal.js'
import { whenFree } from '../whenFree.js'

/** `cairn keys create NAME | list | limit NAME|ID | usage [NAME|ID] | revoke NAME|ID | export | import FILE`. Only
 *  `create` creates a missing database. */
export async function runKeys({ config, operands }: ParsedArgs): Promise<number> {
  const { datadir } = config
  const { action, operand } = parseAction(operands)
  requireOptionsOf(action, config)
  const areNamed = config.methods !== undefined || action === 'import'
  const methods = areNamed ? [...(await loadMethods(undefined)).values()] : []
  checkMethods(config.methods, methods)
  const request = { action, operand, config, methods }
  if (action !== 'create') openAnySchema(datadir).close() // `openForKeys` would create a missing database
  const db = READING.includes(action) ? openForReading(datadir) : openForKeys(datadir)
  try {
    requireCurrentSchema(db) // the schema may be outdated if another process holds the lock
    if (action === 'create') whenFree(() => create(db, request))
    else {
      const text = whenFree(() => act(db, request))
      if (READING.includes(action)) await printResult(text)
      else printSummary(text)
    }
  } finally {
    db.close()
  }
  return 0
}

const ACTIONS = ['create', 'list', 'limit', 'usage', 'revoke', 'export', 'import'] as const
type Action = (typeof ACTIONS)[number]
const READING: readonly Action[] = ['list', 'usage', 'export']

interface Request {
  readonly action: Action
  /** Empty if missing. */
  readonly operand: string
  readonly config: Config
  /** All methods, for a request that names some; else none are loaded. */
  readonly methods: readonly Method[]
}

/** @throws UsageError for limits that the action would ignore, or for `limit` without any */
function requireOptionsOf(action: Action, { rate, maxConcurrent, methods }: Config): void {
  const given = Object.entries({ rate, 'max-concurrent': maxConcurrent, methods })
  const first = given.find(([, value]) => value !== undefined)?.[0]
  if (action === 'limit' && first === undefined) {
    throw new UsageError('keys limit: expected --rate, --max-concurrent or --methods')
  }
  if (action === 'create' || action === 'limit' || first === undefined) return
  throw new UsageError(`--${first} is no option of 'cairn keys ${action}', but of 'keys create' and 'keys limit'`)
}

/** Prints which methods of a class a list with exclusions still allows. @throws UsageError for a name that no method
 *  has, which would limit nothing */
function checkMethods(list: string | undefined, methods: readonly Method[]): void {
  if (list === undefined) return
  const patterns = list.split(',')
  const [unknown] = unknownPatterns(patterns, methods)
  if (unknown !== undefined) {
    const guess = didYouMean(unknown, [...CLASS_NAMES, ...methods.map(({ name }) => name)])
    const classes = CLASS_NAMES.join(', ')
    throw new UsageError(`--methods: no method is named '${unknown}'${guess}; classes of methods are ${classes}`)
  }
  noteSiblings('the key', patterns, methods)
}

/** Prints which methods of a class a list of exclusions by name still allows for `who`. */
function noteSiblings(who: string, patterns: readonly string[], methods: readonly Method[]): void {
  for (const { name, left } of partlyExcluded(patterns, methods)) {
    writeNotice(`note: of the ${name} methods, ${who} may still call ${left.join(', ')}; '!${name}' excludes them, too`)
  }
}

/** Parses the operands. @throws UsageError unless they are an action with its operand. */
function parseAction([word, operand, ...rest]: readonly string[]): { action: Action; operand: string } {
  const action = ACTIONS.find((candidate) => candidate === word)
  if (action === undefined) {
    const unknown = word === undefined ? '' : `, got '${word}'${didYouMean(word, ACTIONS)}`
    throw new UsageError(
      `expected 'create NAME', 'list', 'limit NAME|ID', 'usage', 'revoke NAME|ID', 'export' or 'import FILE'${unknown}; see 'cairn help keys'`,
    )
  }
  const takesNone = action === 'list' || action === 'export'
  const surplus = takesNone ? operand : rest[0]
  if (surplus !== undefined) throw new UsageError(`unexpected operand '${surplus}'; see 'cairn help keys'`)
  if (takesNone) return { action, operand: '' }
  if (action === 'usage') return { action, operand: operand ?? '' }
  if (operand === undefined) {
    throw new UsageError(
      `keys ${action}: expected ${EXPECTED[action] ?? 'the name or id of a key'}; see 'cairn help keys'`,
    )
  }
  if (action === 'create') checkName(operand)
  return { action, operand }
}

const EXPECTED: { readonly [K in Action]?: string } = {
  create: 'a name for the key',
  import: "a file that 'cairn keys export' wrote",
}

function checkName(name: string): void {
  if (isKeyName(name)) return
  const got = JSON.stringify(name.slice(0, MAX_NAME_CHARACTERS))
  throw new UsageError(`keys create: expected a name of 1 to ${MAX_NAME_CHARACTERS} printable characters, got ${got}`)
}

function act(db: Database, request: Request): string {
  const { action, operand, config } = request
  if (action === 'limit') return limit(db, request)
  if (action === 'list') return list(db, config.json)
  if (action === 'usage') return showUsage(db, request)
  if (action === 'export') return JSON.stringify(exportKeys(db), undefined, config.json ? undefined : 1)
  if (action === 'import') return importFile(db, request)
  return revoke(db, operand, config.json)
}

/** Reads the limits from the options; null: no limit. */
function readLimits({ rate, maxConcurrent, methods }: Config): KeyLimitsChange {
  return {
    ...(rate !== undefined && { rateRps: rate === 0 ? null : rate }),
    ...(maxConcurrent !== undefined && { maxConcurrent: maxConcurrent === 0 ? null : maxConcurrent }),
    ...(methods !== undefined && { methods: methods === '*' ? null : methods.split(',') }),
  }
}

/** Creates a key and prints it. Stores it once it is printed. */
function create(db: Database, { operand: name, config }: Request): void {
  createApiKeyTable(db).create(name, readLimits(config), ({ id, key }) => {
    if (config.json) return printSecret(JSON.stringify({ id, name, key }))
    process.stderr.write(`key ${id} (${name}), shown this once:\n`)
    printSecret(key)
  })
}

function importFile(db: Database, { operand: path, config, methods: all }: Request): string {
  const keys = readKeysFile(path)
  const done = importKeys(db, keys)
  for (const { name, methods, revokedAt } of keys) {
    if (revokedAt === undefined) noteSiblings(`key ${name}`, methods ?? [], all)
  }
  if (config.json) return JSON.stringify(done)
  return `keys: ${done.added} added, ${done.changed} changed, ${done.unchanged} unchanged`
}

function list(db: Database, json: boolean): string {
  const keys = createApiKeyTable(db).list()
  if (json) return JSON.stringify(keys)
  if (keys.length === 0) return "no keys; make one with 'cairn keys create NAME'"
  const rows = [['ID', 'NAME', 'CREATED', 'REVOKED', 'LIMITS'], ...keys.map(describeKey)]
  const isLimited = rows.slice(1).some((row) => row[4] !== '')
  return formatTable(isLimited ? rows : rows.map((row) => row.slice(0, 4)))
}

function limit(db: Database, { operand, config }: Request): string {
  const table = createApiKeyTable(db)
  const { id, name } = requireKey(table.list(), operand)
  table.limit(id, readLimits(config))
  const key = table.list().find((each) => each.id === id)!
  if (config.json) return JSON.stringify(key)
  return `key ${id} (${name}): ${formatLimits(key) || 'no limits of its own'}`
}

function formatLimits({ rateRps, maxConcurrent, methods }: KeyLimits): string {
  const limits = [
    rateRps === undefined ? '' : `${rateRps} calls/s`,
    maxConcurrent === undefined ? '' : `${maxConcurrent} at once`,
    methods === undefined ? '' : `methods ${methods.join(',')}`,
  ]
  return limits.filter((text) => text !== '').join('; ')
}

const DAY_MS = 86_400_000

/** Returns the usage by key and method, most time first; with --json also by day. */
function showUsage(db: Database, { operand, config }: Request): string {
  const keys = createApiKeyTable(db).list()
  const only = operand === '' ? undefined : requireKey(keys, operand, { revoked: true }).id
  const table = openUsageForReading(config.datadir)
  const firstDay = Math.floor(Date.now() / DAY_MS) - config.days + 1
  const rows = table?.since(firstDay).filter(({ keyId }) => only === undefined || keyId === only) ?? []
  table?.close()
  const nameOf = (keyId: number) => keys.find(({ id }) => id === keyId)?.name ?? ''
  if (config.json) {
    const date = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
    return JSON.stringify(rows.map((row) => ({ ...row, day: date(row.day), name: nameOf(row.keyId) })))
  }
  if (rows.length === 0) return `no usage in ${config.days} days`
  const header = ['ID', 'NAME', 'METHOD', 'CALLS', 'ERRORS', 'BYTES IN', 'BYTES OUT', 'MS']
  const body = sumDays(rows).map(({ keyId, method, ...row }) => {
    const figures = [row.calls, row.errors, row.bytesIn, row.bytesOut, Math.round(row.ms)]
    return [String(keyId), nameOf(keyId), method, ...figures.map(String)]
  })
  return formatTable([header, ...body])
}

/** Sums the figures of all days by key and method, ordered by key and descending time. */
function sumDays(rows: readonly DayUsage[]): KeyUsage[] {
  const sums = new Map<string, KeyUsage>()
  for (const { keyId, method, ...row } of rows) {
    const name = `${keyId} ${method}`
    const sum = sums.get(name) ?? { keyId, method, calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, ms: 0 }
    sum.calls += row.calls
    sum.errors += row.errors
    sum.bytesIn += row.bytesIn
    sum.bytesOut += row.bytesOut
    sum.ms += row.ms
    sums.set(name, sum)
  }
  return [...sums.values()].sort((a, b) => a.keyId - b.keyId || b.ms - a.ms)
}

function describeKey({ id, name, createdAt, revokedAt, ...limits }: ApiKey): string[] {
  const revoked = revokedAt === undefined ? '-' : formatTime(revokedAt)
  return [String(id), name, formatTime(createdAt), revoked, formatLimits(limits)]
}

function revoke(db: Database, operand: string, json: boolean): string {
  const table = createApiKeyTable(db)
  const { id, name } = requireKey(table.list(), operand)
  table.revoke(id)
  return json ? JSON.stringify({ id, name, revoked: true }) : `key ${id} (${name}) is revoked`
}

/** Returns the live key with this id, else with this name; with `revoked`, also a revoked one. @throws UsageError if
 *  none or several match */
function requireKey(keys: readonly ApiKey[], operand: string, { revoked: takesRevoked = false } = {}): ApiKey {
  const live = keys.filter(({ revokedAt }) => takesRevoked || revokedAt === undefined)
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
