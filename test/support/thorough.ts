/** True with `npm run test:thorough`: repeated and seeded checks run as often as their acceptance names. Otherwise a
 *  part of them runs, so that `npm run test:all` ends in time. */
export const THOROUGH = process.env.CAIRN_TEST_THOROUGH === '1'

/** True with `npm run test:all` and `npm run test:thorough`: random input is longer than with `npm test`. */
export const ALL = process.env.CAIRN_TEST_ALL === '1'
