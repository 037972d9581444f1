"""What happens to a message, one verb per file, in the order in which data moves.

::

    seed           beat: ring poll chains that nobody living is about to continue
    poll           take the link of a channel, serve polls, give the link back
    poll_failures  what a failed poll does to its channel
    chain          the one way in which a link ends: when the next poll is due, and the doorbell for it
    intake         store what arrived, make its conversation due
    spill          keep what could not be stored, and store it later
    wecom_app      a channel that is an app of WeCom
    callback       take a callback of WeCom, and have it answered only when it is safe
    welcome        welcome a person who came
    customer_service_bell     note that WeCom rings for an account, and ring for those that are due
    customer_service          read an account page by page, and only then move on
    customer_service_page     keep a page in the order in which it happened
    customer_service_events   what an event does to the conversation
    customer_service_failed   a message that was accepted and not shown
    customer_service_channel  a channel that is a customer service account
    turns          merge the waiting messages of a conversation into one turn
    overflow       keep what waits within the cap
    queue_modes    choose which of the waiting messages become the next turn
    access         let in whoever may talk, refuse the others before anything happens for them
    commands       do what a person tells the bridge itself
    media          fetch the pictures and files of a turn, before its engine is asked
    admission      who may ask an engine now, and who waits
    reply          ask the engine
    answer         store the answer as chunks, before anything is sent
    outgoing       see to it that an answer may go out, and carries its channel's label
    memory         what an engine is told of the conversation before
    typing         show the person that an answer is being worked on
    files          keep the files of an answer, and upload them just before they are sent
    deliver        send the answer, chunk by chunk
    notice         send a person something that nobody asked for
    accounts       open the sealed account of a channel, whatever its kind
    parts          cut a text into the messages that a platform takes
    pace           wait until one more message may go out
    held           an app from which WeCom takes nothing until somebody changes something
    send_chunk     send one chunk: budget, pacing, the mark, the send, what a refusal means
    failure        what an error does to a turn: try again, park, give up
    close          end a turn: its rows, itself, then whatever waits behind it
    dead           record what was given up, and tell the person
    letters        keep a dead letter, whatever is away
    refused        keep what the broker brought and no task could be made of
    replay         try what was given up again, or discard it
    access_replay  whether the person of a replayed turn may still be answered
    retention      remove what is old and needed no more
    letter_watch   tell the operator when dead letters pile up
    hand_back      give back what a process that must end could not finish
    session        WeChat ended the session of a login: who is told, and how often
    login_start    begin a QR login, or join the one in progress
    login_step     follow it: fetch a code, ask what became of it, ring for the next step
    login_number   submit the number that the phone shows
    login_view     a QR login as a person may see it
    login          a channel's account was logged in
    configure      change how a channel answers
    wecom_change   change what is known of an app of WeCom
    switch         switch a channel on or off, log it out, remove it
    health         whether messages move, judged by progress
    doctor         look a channel over, and say what to change where
    clock_back     make due now what a failover to an earlier clock would let wait
    engine_watch   ring who waits for an engine, spare who cannot be let in, tell the operator
    stuck_rows     make due what a process stored that died before it made it due
    sweep          beat: ring again whatever is overdue, take over from dead owners

MongoDB is the ledger, Celery is the doorbell: every verb finds what it needs in the ledger, and does nothing when the
ledger says that somebody else has done it.
"""
