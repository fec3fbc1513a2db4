import { bytesToBigInt } from '../../../../lib/bytes.js'
import { formatData } from '../../../../lib/hex.js'

/** Prices of layer 1 and parameters of fees that the first deposit of a block sets. */
export interface L1Attributes {
  readonly baseFee: bigint
  /** Before Ecotone. */
  readonly overhead?: bigint
  readonly scalar?: bigint
  /** From Ecotone on. */
  readonly blobBaseFee?: bigint
  readonly baseFeeScalar?: bigint
  readonly blobBaseFeeScalar?: bigint
  /** From Isthmus on. */
  readonly operatorFeeScalar?: bigint
  readonly operatorFeeConstant?: bigint
  /** From Jovian on. */
  readonly daFootprintGasScalar?: bigint
}

/** Selectors of the calls of L1Block, and the lengths of their inputs. */
const BEDROCK = { selector: '0x015d8eb9', bytes: 4 + 8 * 32 } // setL1BlockValues
const ECOTONE = { selector: '0x440a5e20', bytes: 164 } // setL1BlockValuesEcotone
const ISTHMUS = { selector: '0x098999be', bytes: 176 } // setL1BlockValuesIsthmus
const JOVIAN = { selector: '0x3db6be2b', bytes: 178 } // setL1BlockValuesJovian

/** Decodes the input of a block's first deposit (specs/protocol: deposits.md, {ecotone,isthmus,jovian}/
 *  l1-attributes.md). The first block of a fork still has the form of the fork before. Undefined for another call. */
export function readL1Attributes(input: Uint8Array): L1Attributes | undefined {
  const selector = formatData(input.subarray(0, 4))
  const uint = (from: number, to: number) => bytesToBigInt(input.subarray(from, to))
  if (selector === BEDROCK.selector && input.length >= BEDROCK.bytes) {
    const argument = (index: number) => uint(4 + 32 * index, 36 + 32 * index)
    return { baseFee: argument(2), overhead: argument(6), scalar: argument(7) }
  }
  const form = [ECOTONE, ISTHMUS, JOVIAN].find((each) => each.selector === selector)
  if (form === undefined || input.length !== form.bytes) return undefined
  const ecotone = {
    baseFeeScalar: uint(4, 8),
    blobBaseFeeScalar: uint(8, 12),
    baseFee: uint(36, 68),
    blobBaseFee: uint(68, 100),
  }
  if (form === ECOTONE) return ecotone
  const isthmus = { ...ecotone, operatorFeeScalar: uint(164, 168), operatorFeeConstant: uint(168, 176) }
  return form === ISTHMUS ? isthmus : { ...isthmus, daFootprintGasScalar: uint(176, 178) }
}
