import { parseHex } from '../../../../lib/hex.js'
import type { ChainSpec } from '../../forks/rules.js'
import type { NetworkWithoutState } from '../networkWithoutState.js'
import { opSpec } from './opConfig.js'
import type { OpRules } from './opRules.js'

/* Times of forks and parameters: ethereum-optimism/superchain-registry at 8336d2ae, superchain/configs; those of Base
 * from 0d9aefc4, before it left the registry, and of its own forks from docs.base.org/base-chain/specs/upgrades. */

const MAINNET_TIMES = {
  regolith: 0n,
  canyon: 1_704_992_401n,
  ecotone: 1_710_374_401n,
  fjord: 1_720_627_201n,
  granite: 1_726_070_401n,
  holocene: 1_736_445_601n,
  isthmus: 1_746_806_401n,
  jovian: 1_764_691_201n,
}

const SEPOLIA_TIMES = {
  regolith: 0n,
  canyon: 1_699_981_200n,
  ecotone: 1_708_534_800n,
  fjord: 1_716_998_400n,
  granite: 1_723_478_400n,
  holocene: 1_732_633_200n,
  isthmus: 1_744_905_600n,
  jovian: 1_763_568_001n,
}

/** Parameters of most networks. */
const FEES = { elasticity: 6n, denominator: 50n, denominatorCanyon: 250n }

/** OP Mainnet had blocks before Bedrock: the blocks of these forks are part of its fork id. */
const OP_MAINNET_BLOCKS: { readonly [fork: string]: number } = {
  berlin: 3_950_000,
  london: 105_235_063,
  arrowGlacier: 105_235_063,
  grayGlacier: 105_235_063,
}

/** Built-in networks of the OP stack, by name. */
export const OP_NETWORKS = {
  'op-mainnet': network(
    'op-mainnet',
    10n,
    '0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b',
    {
      ...FEES,
      bedrockBlock: 105_235_063,
      times: { ...MAINNET_TIMES, karst: 1_783_526_401n },
    },
    OP_MAINNET_BLOCKS,
  ),
  base: network('base', 8453n, '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd', {
    ...FEES,
    bedrockBlock: 0,
    times: MAINNET_TIMES,
    baseTimes: { azul: 1_779_991_200n, beryl: 1_782_410_400n },
  }),
  'op-sepolia': network(
    'op-sepolia',
    11_155_420n,
    '0x102de6ffb001480cc9b8b548fd05c34cd4f46ae4aa91759393db90ea0409887d',
    {
      ...FEES,
      bedrockBlock: 0,
      times: { ...SEPOLIA_TIMES, karst: 1_781_712_001n },
    },
  ),
  'base-sepolia': network(
    'base-sepolia',
    84_532n,
    '0x0dcc9e089e30b90ddfc55be9a37dd15bc551aeee999d2e2b51414c54eaf934e4',
    {
      ...FEES,
      elasticity: 10n,
      bedrockBlock: 0,
      times: SEPOLIA_TIMES,
      baseTimes: { azul: 1_776_708_000n, beryl: 1_781_805_600n },
    },
  ),
} as const satisfies { readonly [name: string]: NetworkWithoutState }

function network(
  name: string,
  chainId: bigint,
  genesisHash: string,
  op: OpRules,
  blocks: { readonly [fork: string]: number } = {},
): NetworkWithoutState {
  const { activations, ...rules } = opSpec(op)
  const spec: ChainSpec = {
    ...rules,
    ...{ name, chainId, daoForkSupport: false, blobSchedules: {} },
    activations: activations.map((each) => (each.fork in blocks ? { ...each, block: blocks[each.fork] } : each)),
  }
  return { spec, genesisHash: parseHex(genesisHash) }
}
