import sys

from agon_debate import main

sys.exit(main())
