import { THOROUGH } from '../../support/thorough.js'
import { testL2Faults } from '../../support/upstream/l2FaultTests.js'

testL2Faults((index) => THOROUGH || index % 12 === 0)
