import { parseHex } from '../../../lib/hex.js'
import type { BlobSchedule } from '../forks/fork.js'
import type { ChainSpec, ForkActivation } from '../forks/rules.js'
import { ethereum } from './ethereum.js'
import type { Family } from './family.js'
import type { NetworkWithoutState } from './networkWithoutState.js'

/** Gnosis Chain and Chiado after their merge. Blocks before it are sealed by Authority Round, and have other fields. */
export const gnosis: Family = {
  ...ethereum,
  name: 'gnosis',
  title: 'Gnosis',
  chosenBy: '--network gnosis or chiado',
  isExecuted: false,
  hasOtherGenesis: true,
}

/** Blobs of all forks since Cancun, with a minimum price of 1 gwei. */
const BLOBS: BlobSchedule = { target: 1, max: 2, baseFeeUpdateFraction: 1_112_826n, minBaseFee: 1_000_000_000n }

const byBlock = (forks: { readonly [F in ForkActivation['fork']]?: number }): ForkActivation[] =>
  Object.entries(forks).map(([fork, block]) => ({ fork: fork as ForkActivation['fork'], block }))
const byTime = (forks: { readonly [F in ForkActivation['fork']]?: bigint }): ForkActivation[] =>
  Object.entries(forks).map(([fork, timestamp]) => ({ fork: fork as ForkActivation['fork'], timestamp }))

/* Times and terminal difficulties: chain specifications of Nethermind (src/Nethermind/Chains/gnosis.json, chiado.json)
 * and gnosischain/specs. The fork ids that follow from them are those of the networks. */

/** Built-in networks of Gnosis, by name. */
export const GNOSIS_NETWORKS = {
  gnosis: network('gnosis', 100n, '0x4f1dd23188aab3a76b463e4af801b52b1248ef073c648cbdc4c9333d3da79756', {
    activations: [
      ...byBlock({ frontier: 0, homestead: 0, tangerineWhistle: 0, spuriousDragon: 0, byzantium: 0 }),
      ...byBlock({ constantinople: 1_604_400, petersburg: 2_508_800, istanbul: 7_298_030 }),
      ...byBlock({ berlin: 16_101_500, london: 19_040_000 }),
      ...byTime({ shanghai: 1_690_889_660n, cancun: 1_710_181_820n, prague: 1_746_021_820n, osaka: 1_776_168_380n }),
    ],
    otherForkTimes: [1_766_419_900n], // Balancer: changes the code of one account
    mergeNetsplitBlock: 9_186_425, // POSDAO, without rules after the merge
    depositContract: parseHex('0x0b98057ea310f4d31f2a452b414647007d1645d9'),
    terminalTotalDifficulty: 8_626_000_000_000_000_000_000_058_750_000_000_000_000_000_000n,
  }),
  chiado: network('chiado', 10_200n, '0xada44fd8d2ecab8b08f256af07ad3e777f17fb434f8f8e678b312f576212ba9a', {
    activations: [
      ...byBlock({ frontier: 0, homestead: 0, tangerineWhistle: 0, spuriousDragon: 0, byzantium: 0 }),
      ...byBlock({ constantinople: 0, petersburg: 0, istanbul: 0, berlin: 0, london: 0 }),
      ...byTime({ shanghai: 1_684_934_220n, cancun: 1_706_724_940n, prague: 1_741_254_220n }),
    ],
    depositContract: parseHex('0xb97036a26259b7147018913bd58a774cf91acf25'),
    terminalTotalDifficulty: 231_707_791_542_740_786_049_188_744_689_299_064_356_246_512n,
  }),
} as const satisfies { readonly [name: string]: NetworkWithoutState }

function network(
  name: string,
  chainId: bigint,
  genesisHash: string,
  rules: Pick<
    ChainSpec,
    'activations' | 'depositContract' | 'terminalTotalDifficulty' | 'mergeNetsplitBlock' | 'otherForkTimes'
  >,
): NetworkWithoutState {
  const common = {
    family: 'gnosis',
    daoForkSupport: false,
    ethash: false,
    blobSchedules: { cancun: BLOBS, prague: BLOBS },
  } as const
  return { spec: { ...common, ...rules, name, chainId }, genesisHash: parseHex(genesisHash) }
}
