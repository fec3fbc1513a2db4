import { keccak256 } from '../../../crypto.js'
import { hashHeader, headerFields } from '../../header.js'
import { encodeRlp } from '../../rlp.js'
import type { Header } from '../../types.js'
import { ethereum } from '../ethereum.js'
import type { Family } from '../family.js'
import { formatGnosisConfig, readGnosisConfig } from './gnosisConfig.js'
import { gnosisExecution } from './gnosisExecution.js'

/** Gnosis Chain and Chiado after their merge, and development chains like them. Blocks before it are sealed by
 *  Authority Round, and have other fields. */
export const gnosis: Family = {
  ...ethereum,
  name: 'gnosis',
  title: 'Gnosis',
  chosenBy: '--network gnosis or chiado, or --genesis with config.aura',
  notFromGenesis:
    'Authority Round seals the blocks before the merge, which Cairn does not execute; --state sparse or none begins ' +
    'at any block after it',
  execution: gnosisExecution,
  hasOtherGenesis: true,
  hashHeader: (header) => (header.number === 0 ? hashAuRaGenesis(header) : hashHeader(header)),
  verifyHeader: (header, context) => {
    if (!context.rules.isProofOfStake) {
      context.refuse(
        'difficulty',
        '0: blocks before the merge, sealed by Authority Round, are refused',
        header.difficulty,
      )
    }
    ethereum.verifyHeader(header, context)
  },
  readConfig: readGnosisConfig,
  formatConfig: formatGnosisConfig,
}

const MIX_HASH = 13
const NONCE = 14
const NO_STEP = new Uint8Array(0)
const NO_SEAL = new Uint8Array(65)

/** The hash of block 0, which has a step and a seal of Authority Round, both zero, in place of mix hash and nonce. */
function hashAuRaGenesis(header: Header): Uint8Array {
  const fields = headerFields(header)
  fields[MIX_HASH] = NO_STEP
  fields[NONCE] = NO_SEAL
  return keccak256(encodeRlp(fields))
}
