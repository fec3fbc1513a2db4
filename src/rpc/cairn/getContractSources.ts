import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { accountParam, stateBlockParam } from '../eth/commonParams.js'
import { STATE_ERRORS } from '../eth/schemas.js'
import { ABI_SOURCE_PROPERTIES, formatAbiSource } from './abiSchemas.js'
import { abisThatRun } from './contractAbis.js'

const TEXT = { type: 'string' } as const

// `scan`: sources have up to 2 MiB.
export const getContractSources = defineMethod({
  name: 'cairn_getContractSources',
  summary: 'Source files of a contract, or of the implementation of a proxy, from Sourcify bundles.',
  description:
    'A Cairn extension. Those of ABIs that are bound to the address come first, then those of its implementation after the block. Each ' +
    'file has the Keccak-256 that the metadata of the bundle names. `storageLayout` is in the form of solc, null if the bundle has none.',
  cost: 'scan',
  classes: ['state'],
  params: [accountParam, stateBlockParam],
  result: {
    name: 'bundles, empty without sources and layouts',
    schema: {
      type: 'array',
      items: objectSchema('ContractSources', {
        ...ABI_SOURCE_PROPERTIES,
        files: { type: 'array', items: objectSchema('SourceFile', { path: TEXT, content: TEXT }) },
        storageLayout: { type: ['object', 'null'] },
      }),
    },
  },
  errors: STATE_ERRORS,
  handler: ({ chain, decoder, contractSources }, account, id) => {
    const bundles = abisThatRun(decoder(), account, requireStateBlock(chain, id))
    return bundles.flatMap((abi) => {
      const { sourceFiles = 0, hasStorageLayout = false, id: abiId } = abi.added!
      if (sourceFiles === 0 && !hasStorageLayout) return []
      const storageLayout = contractSources.storageLayout(abiId) ?? null
      return [{ ...formatAbiSource(abi), files: contractSources.files(abiId), storageLayout }]
    })
  },
})
