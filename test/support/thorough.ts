/** True with `npm run test:thorough`: repeated and seeded checks run as often as their acceptance names. Otherwise a part
 *  of them runs, so that `npm run test:all` ends in time. */
export const THOROUGH = process.env.CAIRN_TEST_THOROUGH === '1'
