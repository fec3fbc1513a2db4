import { parseHex } from '../../../../lib/hex.js'
import type { ChainSpec, ForkActivation } from '../../forks/rules.js'
import type { NetworkWithoutState } from '../networkWithoutState.js'
import { BALANCER } from './balancer.js'
import { GNOSIS_BLOBS, GNOSIS_MIN_BLOB_BASE_FEE } from './gnosisConfig.js'

const byBlock = (forks: { readonly [F in ForkActivation['fork']]?: number }): ForkActivation[] =>
  Object.entries(forks).map(([fork, block]) => ({ fork: fork as ForkActivation['fork'], block }))
const byTime = (forks: { readonly [F in ForkActivation['fork']]?: bigint }): ForkActivation[] =>
  Object.entries(forks).map(([fork, timestamp]) => ({ fork: fork as ForkActivation['fork'], timestamp }))

const GNOSIS_DEPOSITS = parseHex('0x0b98057ea310f4d31f2a452b414647007d1645d9')
const CHIADO_DEPOSITS = parseHex('0xb97036a26259b7147018913bd58a774cf91acf25')

/* Times, terminal difficulties and contracts: chain specifications of Nethermind (src/Nethermind/Chains/gnosis.json,
 * chiado.json) and reth_gnosis (src/spec/chainspecs), gnosischain/specs. The fork ids that follow from them are those
 * of the networks. Contracts of rewards before the merge are left out. */

/** Built-in networks of Gnosis, by name. */
export const GNOSIS_NETWORKS = {
  gnosis: network('gnosis', 100n, '0x4f1dd23188aab3a76b463e4af801b52b1248ef073c648cbdc4c9333d3da79756', {
    activations: [
      ...byBlock({ frontier: 0, homestead: 0, tangerineWhistle: 0, spuriousDragon: 0, byzantium: 0 }),
      ...byBlock({ constantinople: 1_604_400, petersburg: 2_508_800, istanbul: 7_298_030 }),
      ...byBlock({ berlin: 16_101_500, london: 19_040_000 }),
      ...byTime({ shanghai: 1_690_889_660n, cancun: 1_710_181_820n, prague: 1_746_021_820n, osaka: 1_776_168_380n }),
    ],
    otherForkTimes: [BALANCER.timestamp],
    mergeNetsplitBlock: 9_186_425, // POSDAO, without rules after the merge
    depositContract: GNOSIS_DEPOSITS,
    terminalTotalDifficulty: 8_626_000_000_000_000_000_000_058_750_000_000_000_000_000_000n,
    gnosis: {
      feeCollector: parseHex('0x6bbe78ee9e474842dbd4ab4987b3cefe88426a92'),
      rewardContracts: [{ block: 9_186_425, address: parseHex('0x481c034c6d9441db23ea48de68bcae812c5d39ba') }],
      withdrawalContract: GNOSIS_DEPOSITS,
      codeChanges: [BALANCER],
    },
  }),
  chiado: network('chiado', 10_200n, '0xada44fd8d2ecab8b08f256af07ad3e777f17fb434f8f8e678b312f576212ba9a', {
    activations: [
      ...byBlock({ frontier: 0, homestead: 0, tangerineWhistle: 0, spuriousDragon: 0, byzantium: 0 }),
      ...byBlock({ constantinople: 0, petersburg: 0, istanbul: 0, berlin: 0, london: 0 }),
      ...byTime({ shanghai: 1_684_934_220n, cancun: 1_706_724_940n, prague: 1_741_254_220n, osaka: 1_773_653_580n }),
    ],
    depositContract: CHIADO_DEPOSITS,
    terminalTotalDifficulty: 231_707_791_542_740_786_049_188_744_689_299_064_356_246_512n,
    gnosis: {
      feeCollector: parseHex('0x1559000000000000000000000000000000000000'),
      rewardContracts: [{ block: 0, address: parseHex('0x2000000000000000000000000000000000000001') }],
      withdrawalContract: CHIADO_DEPOSITS,
      codeChanges: [],
    },
  }),
} as const satisfies { readonly [name: string]: NetworkWithoutState }

function network(
  name: string,
  chainId: bigint,
  genesisHash: string,
  rules: Pick<
    ChainSpec,
    'activations' | 'depositContract' | 'terminalTotalDifficulty' | 'mergeNetsplitBlock' | 'otherForkTimes' | 'gnosis'
  >,
): NetworkWithoutState {
  const common = {
    family: 'gnosis',
    daoForkSupport: false,
    ethash: false,
    blobSchedules: GNOSIS_BLOBS,
    minBlobBaseFee: GNOSIS_MIN_BLOB_BASE_FEE,
  } as const
  return { spec: { ...common, ...rules, name, chainId }, genesisHash: parseHex(genesisHash) }
}
