"""What happens to a message, one verb per file, in the order in which data moves.

The road of a message::

    seed           beat: ring poll chains that nobody living is about to continue
    poll           take the link of a channel, serve polls, give the link back
    after_polls    leave the ledger to those who take links, for a moment
    poll_failures  what a failed poll does to its channel
    chain          the one way in which a link ends: when the next poll is due, and the doorbell for it
    intake         store what arrived, make its conversation due
    spill          keep what could not be stored, and store it later
    turns          merge the waiting messages of a conversation into one turn
    overflow       keep what waits within the cap
    queue_modes    choose which of the waiting messages become the next turn
    admission      who may ask an engine now, and who waits
    reply          ask the engine
    memory         what an engine is told of the conversation before
    typing         show the person that an answer is being worked on
    answer         store the answer as chunks, before anything is sent
    outgoing       see to it that an answer may go out, and carries its channel's label
    deliver        send the answer, chunk by chunk
    send_chunk     send one chunk: budget, pacing, the mark, the send, what a refusal means
    parts          cut a text into the messages that a platform takes
    pace           wait until one more message may go out
    failure        what an error does to a turn: try again, park, give up
    close          end a turn: its rows, itself, then whatever waits behind it

What looks after the road::

    sweep          beat: ring again whatever is overdue, take over from dead owners
    engine_watch   ring who waits for an engine, spare who cannot be let in, tell the operator
    stuck_rows     make due what a process stored that died before it made it due
    clock_back     make due now what a failover to an earlier clock would let wait
    hand_back      give back what a process that must end could not finish
    retention      remove what is old and needed no more

What joins it, and what stands beside it, a folder each::

    wecom/             apps of WeCom: their callbacks, and what holds their messages back
    customer_service/  accounts of customer service, read page by page
    media/             what comes and goes besides text
    people/            who may talk, what they tell the bridge, who answers them, what they are told unasked
    login/             from the QR code to the channel that receives, and what ends a session
    channel/           what an operator does to a channel
    configuration/     what may change while processes run: judged, published, put in force everywhere
    dead_letters/      what was given up: recorded, shown, tried again or discarded
    health/            whether messages move, judged by progress
    doctor/            look a channel over, and say what to change where

MongoDB is the ledger, Celery is the doorbell: every verb finds what it needs in the ledger, and does nothing when the
ledger says that somebody else has done it.
"""
