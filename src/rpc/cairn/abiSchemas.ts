import type { KnownAbi } from '../../decoding/decoder.js'
import { formatData } from '../../lib/hex.js'
import type { JsonSchema } from '../core/method.js'
import { address } from '../core/params.js'
import { orNull } from '../eth/schemas.js'

/* Members that the methods about ABIs share. */

const TEXT: JsonSchema = { type: 'string' }

/** JSON schemas of an ABI's name, its contract, and its Sourcify bundle. */
export const ABI_SOURCE_PROPERTIES = {
  name: { ...TEXT, description: 'Name of the contract, of the file, or of the built-in interface.' },
  address: { ...orNull(address.schema), description: 'The contract that it is bound to; null for any contract.' },
  compiler: { ...orNull(TEXT), description: 'Version of the compiler, if a Sourcify bundle has it.' },
  sourcifyMatch: { ...orNull({ enum: ['full', 'partial'] }), description: 'Kind of match of a Sourcify bundle.' },
  metadataMatches: {
    ...orNull({ type: 'boolean' }),
    description: 'True if the code names the metadata of the bundle, false if they were not compared; else null.',
  },
  sourceFiles: { type: 'integer', minimum: 0, description: 'Source files that `cairn_getContractSources` has.' },
  hasStorageLayout: { type: 'boolean', description: 'True if `cairn_getStorageVariables` reads by it.' },
}

/** Formats an ABI's name, its contract, and its Sourcify bundle as JSON. */
export function formatAbiSource({ name, address: bound, added }: KnownAbi) {
  const { bundle } = added ?? {}
  return {
    name,
    address: bound === undefined ? null : formatData(bound),
    compiler: bundle?.compiler ?? null,
    sourcifyMatch: bundle?.match ?? null,
    metadataMatches: bundle?.metadataMatches ?? null,
    sourceFiles: added?.sourceFiles ?? 0,
    hasStorageLayout: added?.hasStorageLayout ?? false,
  }
}
