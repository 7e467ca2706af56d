DEVICE,username,first_name,lastname,lang,uuid
sim1,admin,Ada,Operator,en,a71e6c37-047e-4aa5-82a8-c1382802635e
sim1,viewer,Vic,Reader,en,d8ea07fc-af69-440a-9950-4cc5c681d9be
sim1,ulrike.vogel,Ulrike,Vogel,de,e72f0f1d-4603-4c4a-9fb9-d652cb1c968c
sim1,daisuke.sato,大輔,佐藤,ja,105322c7-7002-40f9-b978-379bee53e6e0
sim1,jurgen.kruger,Jürgen,Krüger,de,90dbc7c7-f013-4a84-bda7-e2c9406fadf3
sim1,theo.lhote,Théo,L'Hôte,fr,c249e0fb-e075-4685-81b4-cc4f961c1a09
