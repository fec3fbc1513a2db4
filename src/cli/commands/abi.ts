import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { type AbiItem, formatAbiJson, parseAbiJson } from '../../decoding/abiItems.js'
import { InvalidAbi } from '../../decoding/errors.js'
import { pickStorageLayout } from '../../decoding/sourcify/sources.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { abbreviate, parseHex } from '../../lib/hex.js'
import { didYouMean } from '../../lib/suggestion.js'
import { type AddedAbi, type AddedAbiTable, createAddedAbiTable, readAddedAbis } from '../../store/addedAbis.js'
import type { Database } from '../../store/database.js'
import { openForKeys } from '../../store/keys/apiKeys.js'
import { openAnySchema, openForReading, requireCurrentSchema } from '../../store/open.js'
import { createSignatureTable, readSignatures, type SignatureSet, type SignatureTable } from '../../store/signatures.js'
import { addSignatures, describeSet, formatSetId, readSignatureSource } from '../abi/addSignatures.js'
import { addSourcify, describeBundle, readSourcify } from '../abi/addSourcify.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult, printSummary } from '../standardStreams.js'
import { formatTable, formatTime } from '../table.js'
import { whenFree } from '../whenFree.js'

const ACTIONS = ['add', 'list', 'remove'] as const

/** `cairn abi add FILE|ADDRESS=FILE... | list | remove ID|NAME`. Only `add` creates a missing database. */
export async function runAbi({
  config: { datadir, json, signatures, sourcify },
  operands,
}: ParsedArgs): Promise<number> {
  const [word, ...rest] = operands
  const action = ACTIONS.find((candidate) => candidate === word)
  if (action === undefined) {
    const got = word === undefined ? '' : `, got '${word}'${didYouMean(word, ACTIONS)}`
    throw new UsageError(`expected 'add FILE|ADDRESS=FILE', 'list' or 'remove ID|NAME'${got}; see 'cairn help abi'`)
  }
  if (action === 'list') {
    if (rest.length > 0) throw new UsageError(`unexpected operand '${rest[0]}'; see 'cairn help abi'`)
    await printResult(list(datadir, json))
    return 0
  }
  if (rest.length === 0 && (action === 'remove' || (signatures ?? sourcify) === undefined)) {
    const expected = action === 'add' ? 'FILE or ADDRESS=FILE' : 'the id or name of an ABI'
    throw new UsageError(`abi ${action}: expected ${expected}; see 'cairn help abi'`)
  }
  if (action === 'add') {
    const sources = rest.map(readSource)
    const set = signatures === undefined ? undefined : readSignatureSource(signatures)
    if (sourcify !== undefined) openAnySchema(datadir).close() // the code of its contracts is read
    printSummary(
      inTables(datadir, ({ db, abis, signatures: sets }) => {
        const bundles = sourcify === undefined ? undefined : readSourcify(db, sourcify)
        return [
          ...sources.map((source) => add(abis, source, json)),
          ...(set === undefined ? [] : [addSignatures(sets, set, json)]),
          ...(bundles === undefined ? [] : [addSourcify(abis, bundles, json)]),
        ].join('\n')
      }),
    )
    return 0
  }
  if (rest.length > 1) throw new UsageError(`unexpected operand '${rest[1]}'; see 'cairn help abi'`)
  openAnySchema(datadir).close() // `openForKeys` would create a missing database
  printSummary(inTables(datadir, (tables) => remove(tables, rest[0], json)))
  return 0
}

interface Tables {
  readonly db: Database
  readonly abis: AddedAbiTable
  readonly signatures: SignatureTable
}

function inTables(datadir: string, work: (tables: Tables) => string): string {
  const db = openForKeys(datadir)
  try {
    requireCurrentSchema(db) // the schema may be outdated if another process holds the lock
    return whenFree(() => work({ db, abis: createAddedAbiTable(db), signatures: createSignatureTable(db) }))
  } finally {
    db.close()
  }
}

/** An ABI file on the command line. */
interface Source extends Pick<AddedAbi, 'name' | 'address'> {
  readonly items: readonly AbiItem[]
  /** Of an artefact, in solc's JSON. */
  readonly storageLayout: object | undefined
}

// The largest artefacts, with bytecode and source, are about a megabyte.
const MAX_FILE_BYTES = 32 * 1024 * 1024

/** Reads `FILE` or `ADDRESS=FILE`. @throws UsageError */
function readSource(operand: string): Source {
  const [, address, path] = /^(0x[^=/]*)=(.*)$/i.exec(operand) ?? [undefined, undefined, operand]
  if (address !== undefined && !/^0x[0-9a-f]{40}$/i.test(address)) {
    throw new UsageError(`abi add: expected an address, 0x and 40 hex digits, before '=', got ${abbreviate(address)}`)
  }
  const parsed = parseFile(path)
  try {
    const items = parseAbiJson(parsed)
    if (items.length === 0)
      throw new UsageError(`${path}: expected an ABI with an event, a function or an error, found none`)
    return {
      name: nameOf(parsed, path),
      address: address === undefined ? undefined : parseHex(address),
      items,
      storageLayout: pickStorageLayout(parsed),
    }
  } catch (error) {
    throw error instanceof InvalidAbi ? new UsageError(`${path}: ${error.message}`, { cause: error }) : error
  }
}

function parseFile(path: string): unknown {
  let text: Buffer
  try {
    text = readFileSync(path)
  } catch (error) {
    throw new UsageError(`abi add: cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
  if (text.length > MAX_FILE_BYTES) {
    throw new UsageError(`${path}: expected at most ${MAX_FILE_BYTES} bytes, got ${text.length}`)
  }
  try {
    return JSON.parse(text.toString())
  } catch (error) {
    throw new UsageError(`${path}: expected a JSON ABI: ${messageOf(error)}`, { cause: error })
  }
}

/** Returns the contract's name in the artefact, else the name of the file. */
function nameOf(parsed: unknown, path: string): string {
  const { contractName } = parsed as { contractName?: unknown }
  const isName = typeof contractName === 'string' && /^[\w$]{1,100}$/.test(contractName)
  return isName
    ? contractName
    : basename(path)
        .replace(/(\.abi)?\.json$|\.abi$/i, '')
        .slice(0, 100)
}

function add(table: AddedAbiTable, { name, address, items, storageLayout }: Source, json: boolean): string {
  const sources = { files: [], storageLayout }
  const id = table.add({ name, address, json: JSON.stringify(formatAbiJson(items)), sources })
  const counts = countItems(items)
  if (json) return JSON.stringify({ id, name, address: checksumOrNull(address), ...counts })
  return `ABI ${id} (${name}), for ${contractWords(address)}: events ${counts.events}, functions ${counts.functions}, errors ${counts.errors}`
}

function list(datadir: string, json: boolean): string {
  const db = openForReading(datadir)
  try {
    const listed = [...readAddedAbis(db).list().map(describe), ...readSignatures(db).list().map(describeSet)]
    if (json) return JSON.stringify(listed)
    if (listed.length === 0) return "no ABIs; add one with 'cairn abi add FILE'"
    const rows = listed.map((each) => {
      const { id, name, address, events, functions, errors, addedAt } = each
      const contract = 'isGuess' in each ? 'guesses' : (address ?? 'any')
      const bundle = 'bundle' in each && each.bundle ? describeBundle(each.bundle) : ''
      return [String(id), name, contract, ...[events, functions, errors].map(String), formatTime(addedAt), bundle]
    })
    return formatTable([['ID', 'NAME', 'CONTRACT', 'EVENTS', 'FUNCTIONS', 'ERRORS', 'ADDED', 'SOURCIFY'], ...rows])
  } finally {
    db.close()
  }
}

function describe({ id, name, address, json, addedAt, bundle }: AddedAbi) {
  const counts = countItems(parseAbiJson(JSON.parse(json)))
  return { id, name, address: checksumOrNull(address), ...counts, addedAt, ...(bundle && { bundle }) }
}

function countItems(items: readonly AbiItem[]) {
  const count = (wanted: AbiItem['type']) => items.filter(({ type }) => type === wanted).length
  return { events: count('event'), functions: count('function'), errors: count('error') }
}

function checksumOrNull(address: Uint8Array | undefined): string | null {
  return address === undefined ? null : formatChecksumAddress(address)
}

function contractWords(address: Uint8Array | undefined): string {
  return address === undefined ? 'any contract' : formatChecksumAddress(address)
}

function remove({ abis, signatures }: Tables, operand: string, json: boolean): string {
  const found = requireEntry(abis.list(), signatures.list(), operand)
  if ('functions' in found) {
    const { id, name } = found
    signatures.remove(id)
    if (json) return JSON.stringify({ id: formatSetId(id), name, address: null, removed: true })
    return `signatures ${formatSetId(id)} (${name}) are removed`
  }
  const { id, name, address } = found
  abis.remove(id)
  if (json) return JSON.stringify({ id, name, address: checksumOrNull(address), removed: true })
  return `ABI ${id} (${name}), for ${contractWords(address)}, is removed`
}

/** Returns the ABI or set of signatures with this id, else with this name. @throws UsageError if none or several
 *  match */
function requireEntry(
  abis: readonly AddedAbi[],
  sets: readonly SignatureSet[],
  operand: string,
): AddedAbi | SignatureSet {
  const entries = [
    ...abis.map((entry) => ({ id: String(entry.id), entry })),
    ...sets.map((entry) => ({ id: formatSetId(entry.id), entry })),
  ]
  const byId = entries.find(({ id }) => id === operand)
  if (byId) return byId.entry
  const named = entries.filter(({ entry }) => entry.name === operand)
  if (named.length === 1) return named[0].entry
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(`${named.length} ABIs are named '${operand}': ids ${ids}; name one by its id`)
  }
  const names = entries.map(({ entry }) => entry.name)
  throw new UsageError(`no ABI with id or name '${operand}'${didYouMean(operand, names)}; see 'cairn abi list'`)
}
