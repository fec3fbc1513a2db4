import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { formatAbiJson } from '../../decoding/abiItems.js'
import { InvalidAbi } from '../../decoding/errors.js'
import {
  type BundleLocation,
  type BundleMetadata,
  type CodeComparison,
  compareWithCode,
  findBundles,
  InvalidBundle,
  MAX_BUNDLES,
  readBundle,
} from '../../decoding/sourcify/bundles.js'
import { type BundleSources, readBundleLayout, readBundleSources } from '../../decoding/sourcify/sources.js'
import { UsageError } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'
import type { AddedAbiTable, NewAbi } from '../../store/addedAbis.js'
import { createCommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_CHAIN_ID } from '../../store/meta.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { hasStateAfter } from '../../store/rows/coverage.js'
import { MissingState } from '../../store/state/missingState.js'
import { createStateReads } from '../../store/state/stateReader.js'

/** A contract whose ABI is added. */
interface AcceptedBundle {
  readonly location: BundleLocation
  readonly metadata: BundleMetadata
  readonly isMatched: boolean
  readonly sources: BundleSources
  /** In solc's JSON; undefined if absent. */
  readonly storageLayout: object | undefined
}

/** Contracts of a directory of Sourcify, compared with the code in the database. */
export interface SourcifySource {
  readonly accepted: readonly AcceptedBundle[]
  readonly refused: {
    /** No code at the address at the newest block. */
    readonly noCode: number
    /** A full match, but the code names other metadata. */
    readonly otherMetadata: number
    /** The metadata cannot be read. */
    readonly invalid: number
  }
  /** The first invalid contract, and why. */
  readonly firstInvalid: string | undefined
  readonly otherChains: number
}

/** Reads the contracts of `--sourcify DIR` or `ADDRESS=DIR` that are of the database's chain, and compares them with
 *  the code at its newest block. @throws UsageError */
export function readSourcify(db: Database, operand: string): SourcifySource {
  const [, address, directory] = /^(0x[0-9a-f]{40})=(.+)$/i.exec(operand) ?? [undefined, undefined, operand]
  const readCode = codeReader(db)
  const chainId = createMetaTable(db).get<string>(META_CHAIN_ID)
  if (chainId === undefined)
    throw new UsageError('abi add --sourcify: the database has no layer-1 blocks; import them first')
  const refused = { noCode: 0, otherMetadata: 0, invalid: 0 }
  const accepted: AcceptedBundle[] = []
  let firstInvalid: string | undefined
  const { bundles, otherChains } = find(directory, {
    chainId,
    address: address === undefined ? undefined : parseHex(address),
  })
  for (const location of bundles) {
    try {
      const code = readCode(location.address)
      if (code?.length === 0) {
        refused.noCode++
        continue
      }
      const metadata = readBundle(location)
      const comparison: CodeComparison = code === undefined ? 'notCompared' : compareWithCode(metadata, code)
      // The code of a partial match has another metadata hash by definition.
      if (comparison === 'otherMetadata' && location.match !== 'partial') refused.otherMetadata++
      else {
        const sources = readBundleSources(location.directory, metadata.bytes)
        const storageLayout = readBundleLayout(location.directory)
        accepted.push({ location, metadata, isMatched: comparison === 'matched', sources, storageLayout })
      }
    } catch (error) {
      if (!(error instanceof InvalidBundle || error instanceof InvalidAbi)) throw error
      refused.invalid++
      firstInvalid ??= `${formatChecksumAddress(location.address)}: ${error.message}`
    }
  }
  return { accepted, refused, firstInvalid, otherChains }
}

function find(directory: string, wanted: { chainId: string; address: Uint8Array | undefined }) {
  try {
    return findBundles(directory, wanted)
  } catch (error) {
    throw new UsageError(`abi add --sourcify: ${(error as Error).message}`, { cause: error })
  }
}

/** Returns a reader of the code at the newest block; undefined where the state is not known. */
function codeReader(db: Database): (address: Uint8Array) => Uint8Array | undefined {
  const coverage = createChainReader(db, createCommitWatch(db)).coverage()
  const state = createStateReads(db)
  if (coverage === undefined || !hasStateAfter(coverage, coverage.head)) return () => undefined
  return (address) => {
    try {
      return state.code(address, coverage.head)
    } catch (error) {
      if (error instanceof MissingState) return undefined
      throw error
    }
  }
}

/** Adds the ABIs. Returns lines for the user, or JSON. @throws UsageError if the database would have more than 200
 *  contracts of bundles */
export function addSourcify(table: AddedAbiTable, source: SourcifySource, json: boolean): string {
  const { accepted, refused, firstInvalid, otherChains } = source
  const added = new Set(accepted.map(({ location, metadata }) => keyOf(metadata.name, location.address)))
  const others = table.list().filter(({ name, address, bundle }) => bundle && !added.has(keyOf(name, address!)))
  if (others.length + accepted.length > MAX_BUNDLES) {
    throw new UsageError(
      `abi add --sourcify: expected at most ${MAX_BUNDLES} contracts, got ${accepted.length} and ${others.length} that were added before`,
    )
  }
  const abis = accepted.map(({ location: { address, match }, metadata, isMatched, sources, storageLayout }): NewAbi => {
    const { name, compiler, items } = metadata
    const bundle = { compiler, match, metadataMatches: isMatched }
    const json = JSON.stringify(formatAbiJson(items))
    return { name, address, json, bundle, sources: { files: sources.files, storageLayout } }
  })
  const ids = table.addAll(abis)
  const matched = accepted.filter(({ isMatched }) => isMatched).length
  if (json) {
    const contracts = abis.map(({ name, address, bundle }, i) => {
      const { compiler = null, match = null, metadataMatches } = bundle!
      const { sources, storageLayout } = accepted[i]
      const facts = { compiler, match, metadataMatches, sourceFiles: sources.files.length }
      const hasStorageLayout = storageLayout !== undefined
      return {
        id: ids[i],
        name,
        address: formatChecksumAddress(address!),
        ...facts,
        missingSources: sources.missing,
        hasStorageLayout,
      }
    })
    return JSON.stringify({ contracts, refused, firstInvalid: firstInvalid ?? null, otherChains })
  }
  const lines = abis.map(({ name, address, bundle }, i) => {
    const parts = describeSources(accepted[i])
    return `ABI ${ids[i]} (${name}), for ${formatChecksumAddress(address!)}: ${describeBundle(bundle!)}${parts}`
  })
  lines.push(
    `contracts ${accepted.length}, matched by metadata hash ${matched}, not compared ${accepted.length - matched}; refused: ` +
      `no code ${refused.noCode}, other metadata ${refused.otherMetadata}, invalid ${refused.invalid}` +
      `${firstInvalid === undefined ? '' : ` (first: ${firstInvalid})`}; folders of other chains ${otherChains}`,
  )
  return lines.join('\n')
}

/** Formats what is stored of the sources: `, sources 3, missing 1, storage layout`. */
function describeSources({ sources: { files, missing }, storageLayout }: AcceptedBundle): string {
  const layout = storageLayout === undefined ? '' : ', storage layout'
  return `, sources ${files.length}${missing === 0 ? '' : `, missing ${missing}`}${layout}`
}

function keyOf(name: string, address: Uint8Array): string {
  return `${formatChecksumAddress(address)} ${name}`
}

/** Formats what is known of a bundle: `full match, 0.8.26+commit.8a97fa7a, matched by metadata hash`. */
export function describeBundle({ compiler, match, metadataMatches }: NonNullable<NewAbi['bundle']>): string {
  const comparison = metadataMatches ? 'matched by metadata hash' : 'not compared'
  return [match && `${match} match`, compiler, comparison].filter((each) => each !== undefined).join(', ')
}
