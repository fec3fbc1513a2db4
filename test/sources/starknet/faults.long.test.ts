import { testL2Faults } from '../../support/l2FaultTests.js'
import { THOROUGH } from '../../support/thorough.js'

testL2Faults((index) => THOROUGH || index % 6 === 0)
