"""What happens to a message, one verb per file, in the order in which data moves.

::

    seed           beat: ring poll chains that nobody living is about to continue
    poll           take the link of a channel, serve polls, give the link back
    poll_failures  what a failed poll does to its channel
    chain          the one way in which a link ends: when the next poll is due, and the doorbell for it
    intake         store what arrived, make its conversation due
    spill          keep what could not be stored, and store it later
    turns          merge the waiting messages of a conversation into one turn
    reply          ask the engine, store the answer
    deliver        send the answer, chunk by chunk
    failure        what an error does to a turn: try again, park, give up
    close          end a turn: its rows, itself, then whatever waits behind it
    dead           record what was given up, and tell the person
    letters        keep a dead letter, whatever is away
    refused        keep what the broker brought and no task could be made of
    replay         try what was given up again, or discard it
    retention      remove what is old and needed no more
    login          a channel's account was logged in
    switch         switch a channel on or off
    health         whether messages move, judged by progress
    sweep          beat: ring again whatever is overdue, take over from dead owners

MongoDB is the ledger, Celery is the doorbell: every verb finds what it needs in the ledger, and does nothing when the
ledger says that somebody else has done it.
"""
