import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { equalBytes } from '../../lib/bytes.js'
import { CairnError, messageOf } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'
import { membersOf } from '../../lib/json.js'
import type { SourcifyMatch } from '../../store/addedAbis.js'
import { type AbiItem, parseAbiJson } from '../abiItems.js'
import { ipfsHash, metadataHashOfCode } from './metadataHash.js'

/** A directory that is no repository or contract of Sourcify, or has too much. */
export class InvalidBundle extends CairnError {}

/** A contract's directory: `metadata.json`, `sources/`, and `storageLayout.json` if there is one. */
export interface BundleLocation {
  readonly directory: string
  readonly address: Uint8Array // 20
  /** Undefined if the path does not say it. */
  readonly match: SourcifyMatch | undefined
}

/** The contracts of a directory. */
export interface FoundBundles {
  /** Of the wanted chain, at most one an address: a full match wins. */
  readonly bundles: readonly BundleLocation[]
  /** Directories of contracts of other chains; not counted one by one. */
  readonly otherChains: number
}

/** What the metadata of a contract says. */
export interface BundleMetadata {
  /** The contract's name; `contract` if it is no Solidity identifier. */
  readonly name: string
  /** Such as `0.8.26+commit.8a97fa7a`. */
  readonly compiler: string | undefined
  readonly items: readonly AbiItem[]
  /** The file as it is. */
  readonly bytes: Uint8Array
}

const MATCHES = [
  ['full_match', 'full'],
  ['partial_match', 'partial'],
] as const

/** Contracts of bundles in a database: the decoder of each thread compiles their ABIs, measured as 0.7 ms and 0.3 MB
 *  for one with 83 items. */
export const MAX_BUNDLES = 200
// The ABIs of the largest contracts take some hundred kilobytes; sources may be part of the metadata.
const MAX_METADATA_BYTES = 8_388_608

/** Finds the contracts of a chain in a directory of Sourcify: a repository
 *  (`contracts/{full_match,partial_match}/CHAINID/ADDRESS/`), its folder `contracts`, or the directory of one contract,
 *  whose address is `address` or in its path. Symbolic links are not followed. @throws InvalidBundle */
export function findBundles(
  directory: string,
  { chainId, address }: { chainId: string; address?: Uint8Array },
): FoundBundles {
  const path = resolve(directory)
  if (isFile(join(path, 'metadata.json'))) return findOne(path, address, chainId)
  if (address !== undefined) throw new InvalidBundle(`${directory}: expected a directory with metadata.json`)
  const root = isDirectory(join(path, 'contracts')) ? join(path, 'contracts') : path
  const kinds = MATCHES.filter(([folder]) => isDirectory(join(root, folder)))
  if (kinds.length === 0) {
    throw new InvalidBundle(`${directory}: expected metadata.json, contracts/full_match or contracts/partial_match`)
  }
  const bundles = new Map<string, BundleLocation>()
  let otherChains = 0
  for (const [folder, match] of kinds) {
    const chains = directoriesIn(join(root, folder))
    otherChains += chains.filter((chain) => chain !== chainId).length
    if (!chains.includes(chainId)) continue
    for (const name of directoriesIn(join(root, folder, chainId))) {
      const own = addressOf(name)
      const key = name.toLowerCase()
      if (own === undefined || bundles.has(key)) continue
      if (bundles.size === MAX_BUNDLES)
        throw new InvalidBundle(`${directory}: expected at most ${MAX_BUNDLES} contracts`)
      bundles.set(key, { directory: join(root, folder, chainId, name), address: own, match })
    }
  }
  return { bundles: [...bundles.values()], otherChains }
}

function findOne(path: string, address: Uint8Array | undefined, chainId: string): FoundBundles {
  const chain = dirname(path)
  const match = MATCHES.find(([folder]) => folder === basename(dirname(chain)))?.[1]
  if (match !== undefined && address === undefined && basename(chain) !== chainId)
    return { bundles: [], otherChains: 1 }
  const own = address ?? addressOf(basename(path))
  if (own === undefined) {
    throw new InvalidBundle(`${path}: expected an address in the name of the directory, or ADDRESS=DIR`)
  }
  return { bundles: [{ directory: path, address: own, match }], otherChains: 0 }
}

function addressOf(name: string): Uint8Array | undefined {
  return /^0x[0-9a-f]{40}$/i.test(name) ? parseHex(name) : undefined
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function directoriesIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Reads `metadata.json` of a contract's directory. @throws InvalidBundle; InvalidAbi */
export function readBundle({ directory }: BundleLocation): BundleMetadata {
  const bytes = readMetadata(join(directory, 'metadata.json'))
  const { compiler, output, settings } = membersOf(parseJson(bytes))
  const items = parseAbiJson(membersOf(output).abi)
  const names: unknown[] = Object.values(membersOf(membersOf(settings).compilationTarget))
  const [name] = names.filter((each) => typeof each === 'string' && /^[\w$]{1,100}$/.test(each)) as string[]
  const { version } = membersOf(compiler)
  const isVersion = typeof version === 'string' && /^[\w.+-]{1,64}$/.test(version)
  return { name: name ?? 'contract', compiler: isVersion ? version : undefined, items, bytes }
}

function readMetadata(path: string): Uint8Array {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw new InvalidBundle(`cannot read metadata.json: ${messageOf(error)}`, { cause: error })
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new InvalidBundle('expected metadata.json to be a file')
    const { size } = stats
    if (size > MAX_METADATA_BYTES) throw new InvalidBundle(`expected at most ${MAX_METADATA_BYTES} bytes, got ${size}`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch (error) {
    throw new InvalidBundle(`metadata.json: invalid JSON: ${messageOf(error)}`, { cause: error })
  }
}

/** How metadata compares with the code at the address: `matched` if the code names its IPFS hash, `otherMetadata` if it
 *  names another one, `notCompared` if it names none or the file has more than 256 KiB. */
export type CodeComparison = 'matched' | 'otherMetadata' | 'notCompared'

/** Compares metadata with runtime code. */
export function compareWithCode({ bytes }: BundleMetadata, code: Uint8Array): CodeComparison {
  const named = metadataHashOfCode(code)
  const own = named && ipfsHash(bytes)
  if (named === undefined || own === undefined) return 'notCompared'
  return equalBytes(named, own) ? 'matched' : 'otherMetadata'
}
